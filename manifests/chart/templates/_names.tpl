{{- /* Names, labels and the command line, for the other templates. */ -}}

{{- define "secretcast.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "secretcast.fullname" -}}
{{- $name := include "secretcast.name" . -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- .Values.fullnameOverride | default $full | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "secretcast.namespace" -}}
{{- .Values.namespaceOverride | default .Release.Namespace -}}
{{- end -}}

{{- /* The account of the pods, the subject of every binding, and the name by which the guards know it. */ -}}
{{- define "secretcast.serviceAccountName" -}}
{{- $account := .Values.serviceAccount | default dict -}}
{{- if and (get $account "create" | toString | eq "false") (not (get $account "name")) -}}
{{- fail "serviceAccount.create is false, but serviceAccount.name is empty: name an account that exists. The account `default` would give its rights to every Pod of the namespace" -}}
{{- end -}}
{{- get $account "name" | default (include "secretcast.fullname" .) -}}
{{- end -}}

{{- define "secretcast.selector" -}}
app.kubernetes.io/name: {{ include "secretcast.name" . | toYaml }}
app.kubernetes.io/instance: {{ .Release.Name | toYaml }}
{{- end -}}

{{- /* A mapping without the keys that null takes away. */ -}}
{{- define "secretcast.given" -}}
{{- range $key, $value := . -}}
{{- if not (kindIs "invalid" $value) }}
{{ dict $key $value | toYaml }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "secretcast.flags" -}}
{{- include "secretcast.given" .Values.flags -}}
{{- end -}}

{{- define "secretcast.ownLabels" -}}
{{ include "secretcast.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end -}}

{{- /* From a list of the root and of labels that win over the common ones. */ -}}
{{- define "secretcast.labels" -}}
{{- $own := include "secretcast.ownLabels" (first .) -}}
{{- $given := merge (dict) (index . 1 | default dict) ((first .).Values.commonLabels | default dict) -}}
{{- range $label, $_ := fromYaml $own -}}
{{- if hasKey $given $label -}}
{{- fail (printf "the label %s is the chart's own: take it out of commonLabels, podLabels and monitoringLabels" $label) -}}
{{- end -}}
{{- end -}}
{{- with include "secretcast.given" $given -}}
{{- trim . }}
{{ end -}}
{{ $own }}
{{- end -}}

{{- /* Labels and annotations of an object: the root, and labels and annotations that win over the common ones. */ -}}
{{- define "secretcast.marksWith" -}}
labels:
  {{- include "secretcast.labels" . | nindent 2 }}
{{- with include "secretcast.given" (merge (dict) (last . | default dict) ((first .).Values.commonAnnotations | default dict)) }}
annotations:
  {{- trim . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "secretcast.marks" -}}
{{- include "secretcast.marksWith" (list . dict dict) -}}
{{- end -}}

{{- /* With the labels that Prometheus' operator selects by. */ -}}
{{- define "secretcast.monitoringMarks" -}}
{{- include "secretcast.marksWith" (list . .Values.monitoringLabels dict) -}}
{{- end -}}

{{- define "secretcast.image" -}}
{{- with get (.Values.global | default dict) "imageRegistry" | default .Values.image.registry -}}
{{- printf "%s/" (trimSuffix "/" .) -}}
{{- end -}}
{{- .Values.image.repository -}}
{{- with .Values.image.digest -}}
{{- printf "@%s" . -}}
{{- else -}}
{{- printf ":%s" (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{- /* Fields of an object, without those that are empty. */ -}}
{{- define "secretcast.fields" -}}
{{- range $name, $value := . -}}
{{- with $value }}
{{ dict $name . | toYaml }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* `enabled` is the switch of external-secrets' chart. */ -}}
{{- define "secretcast.securityContext" -}}
{{- if get (. | default dict) "enabled" | toString | ne "false" -}}
{{- include "secretcast.fields" (dict "securityContext" (omit (. | default dict) "enabled")) -}}
{{- end -}}
{{- end -}}

{{- /* What each Pod of the chart has: those of the Deployment, and that of `helm test`. */ -}}
{{- define "secretcast.podSpec" -}}
{{- $secrets := list -}}
{{- range .Values.imagePullSecrets | default (get (.Values.global | default dict) "imagePullSecrets") | default list -}}
{{- $secrets = append $secrets (kindIs "string" . | ternary (dict "name" .) .) -}}
{{- end -}}
serviceAccountName: {{ include "secretcast.serviceAccountName" . | toYaml }}
automountServiceAccountToken: true
# Variables of Services would only crowd the environment that SECRETCAST_... flags come from.
enableServiceLinks: false
{{- include "secretcast.fields" (dict "imagePullSecrets" $secrets "schedulerName" .Values.schedulerName "runtimeClassName" .Values.runtimeClassName "dnsPolicy" .Values.dnsPolicy "dnsConfig" .Values.dnsConfig "hostAliases" .Values.hostAliases "nodeSelector" (include "secretcast.given" .Values.nodeSelector | fromYaml) "tolerations" .Values.tolerations "volumes" .Values.extraVolumes) }}
# No user or group by number: the image has one, and OpenShift chooses its own.
{{- include "secretcast.securityContext" .Values.podSecurityContext }}
{{- range $field, $value := .Values.podSpecExtra }}
{{- if has $field (include "secretcast.podFields" $ | splitList " ") }}
{{- fail (printf "podSpecExtra has %s, which the chart sets: use the chart's own value for it" $field) }}
{{- end }}
{{ dict $field $value | toYaml }}
{{- end }}
{{- end -}}

{{- /* Fields of a Pod's spec that the chart sets itself, in the Deployment or for `helm test`. */ -}}
{{- define "secretcast.podFields" -}}
{{- print "serviceAccountName serviceAccount automountServiceAccountToken enableServiceLinks imagePullSecrets" -}}
{{- print " schedulerName runtimeClassName dnsPolicy dnsConfig hostAliases nodeSelector tolerations volumes" -}}
{{- print " securityContext terminationGracePeriodSeconds priorityClassName affinity topologySpreadConstraints" -}}
{{- print " containers initContainers restartPolicy activeDeadlineSeconds" -}}
{{- end -}}

{{- /* What each container of these has. */ -}}
{{- define "secretcast.containerSpec" -}}
image: {{ include "secretcast.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- range .Values.extraEnv }}
{{- if hasPrefix "SECRETCAST_" .name }}
{{- fail (printf "extraEnv has %s, but the chart makes rights and policies by the flags: set it under `flags`, or under `extraArgs` if the chart does not know it" .name) }}
{{- end }}
{{- end }}
{{- include "secretcast.fields" (dict "env" .Values.extraEnv "volumeMounts" .Values.extraVolumeMounts) }}
# No CPU limit: a throttled process cannot renew its Lease in time. Only the log is written to disk.
{{- include "secretcast.fields" (dict "resources" .Values.resources) }}
{{- include "secretcast.securityContext" .Values.securityContext }}
{{- end -}}

{{- define "secretcast.leaseName" -}}
{{- get (include "secretcast.flags" . | fromYaml) "lease-name" | default (include "secretcast.fullname" .) -}}
{{- end -}}

{{- /* Empty: there is none. */ -}}
{{- define "secretcast.sourceList" -}}
{{- $name := printf "%s-sources" (include "secretcast.fullname" .) -}}
{{- ternary (get (include "secretcast.flags" . | fromYaml) "source-list") $name (hasKey (include "secretcast.flags" . | fromYaml) "source-list") -}}
{{- end -}}

{{- define "secretcast.leaseNamespace" -}}
{{- get (include "secretcast.flags" . | fromYaml) "lease-namespace" | default (include "secretcast.namespace" .) -}}
{{- end -}}

{{- /* The pod's port for probes and metrics is where --http-address listens. */ -}}
{{- define "secretcast.httpPort" -}}
{{- get (include "secretcast.flags" . | fromYaml) "http-address" | default "0.0.0.0:8080" | splitList ":" | last -}}
{{- end -}}

{{- /* The flags that have a value. */ -}}
{{- define "secretcast.knownFlags" -}}
{{- print "source-namespaces namespaces exclude-namespaces include-system-namespaces namespace-policy resync" -}}
{{- print " concurrency delete-grace delete-hold fanout-limit other-source-namespaces" -}}
{{- print " receipts copyable-keys source-list data-cache max-value-age dry-run leader-elect lease-namespace" -}}
{{- print " lease-name http-address status-address log-level log-format config-maps only-names" -}}
{{- end -}}

{{- /* The election is always named; other flags only when they are given. Numbers come as floats. */ -}}
{{- define "secretcast.args" -}}
{{- $flags := include "secretcast.flags" . | fromYaml -}}
{{- $elect := ternary (get $flags "leader-elect") true (hasKey $flags "leader-elect") -}}
{{- $args := list "run" (ternary "--leader-elect" "--no-leader-elect" $elect) -}}
{{- $lease := include "secretcast.leaseName" . -}}
{{- if ne $lease "secretcast" -}}
{{- $args = append $args (printf "--lease-name=%s" $lease) -}}
{{- end -}}
{{- $list := include "secretcast.sourceList" . -}}
{{- if ne $list "secretcast-sources" -}}
{{- $args = append $args (printf "--source-list=%s" $list) -}}
{{- end -}}
{{- if .Values.configMaps -}}
{{- $args = append $args "--config-maps" -}}
{{- end -}}
{{- with .Values.onlyNames -}}
{{- $args = append $args (printf "--only-names=%s" (join "," .)) -}}
{{- end -}}
{{- range $flag, $value := omit $flags "leader-elect" "lease-name" "source-list" -}}
{{- if kindIs "slice" $value -}}
{{- $value = join "," $value -}}
{{- else if kindIs "float64" $value -}}
{{- $value = int64 $value -}}
{{- end -}}
{{- $args = append $args (printf "--%s=%v" $flag $value) -}}
{{- end -}}
{{- range $flag, $value := .Values.extraArgs -}}
{{- if has (trimPrefix "no-" $flag) (include "secretcast.knownFlags" $ | splitList " ") -}}
{{- $own := dict "config-maps" "configMaps" "only-names" "onlyNames" -}}
{{- fail (printf "extraArgs has %s, but the chart makes rights and policies by the flags: set %s" $flag (get $own $flag | default (printf "flags.%s" (trimPrefix "no-" $flag)))) -}}
{{- end -}}
{{- $value = ternary (int64 $value) $value (and (kindIs "float64" $value) (eq (floor $value) $value)) -}}
{{- $args = append $args (ternary (printf "--%s" $flag) (printf "--%s=%v" $flag $value) (has $value (list nil "" true))) -}}
{{- end -}}
{{- toYaml $args -}}
{{- end -}}

{{- /* A flag's list, which may be text with commas, as JSON. */ -}}
{{- define "secretcast.list" -}}
{{- ternary . (splitList "," (toString . | replace " " "")) (kindIs "slice" .) | toJson -}}
{{- end -}}

{{- /* The namespaces of --namespaces, as JSON. */ -}}
{{- define "secretcast.targets" -}}
{{- with get (include "secretcast.flags" . | fromYaml) "namespaces" -}}
{{- include "secretcast.list" . -}}
{{- end -}}
{{- end -}}

{{- /* With --namespaces, where rights are needed, as JSON: in those, and in the namespaces of sources
that are named and not globs. An empty list where all are served. */ -}}
{{- define "secretcast.namespaces" -}}
{{- $all := list -}}
{{- with get (include "secretcast.flags" . | fromYaml) "namespaces" -}}
{{- $all = include "secretcast.list" . | fromJsonArray -}}
{{- range include "secretcast.list" (get (include "secretcast.flags" $ | fromYaml) "source-namespaces" | default (include "secretcast.namespace" $)) | fromJsonArray -}}
{{- if not (regexMatch "[*?!]" .) -}}
{{- $all = append $all . -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- uniq $all | toJson -}}
{{- end -}}

{{- /* The source namespaces between quotes, if they are names; "*" if there are globs among them. */ -}}
{{- define "secretcast.literalSources" -}}
{{- $sources := get (include "secretcast.flags" . | fromYaml) "source-namespaces" | default (include "secretcast.namespace" .) -}}
{{- $names := include "secretcast.list" $sources | fromJsonArray -}}
{{- ternary "*" (join "', '" $names) (regexMatch "[*?!]" (join "," $names)) -}}
{{- end -}}

{{- /* The names of --only-names, as a list of CEL. */ -}}
{{- define "secretcast.names" -}}
{{- with .Values.onlyNames -}}
['{{ join "', '" . }}']
{{- else -}}
[]
{{- end -}}
{{- end -}}

{{- /* The source namespaces of other installations, as a list of CEL. */ -}}
{{- define "secretcast.otherSources" -}}
{{- $globs := list -}}
{{- with get (include "secretcast.flags" . | fromYaml) "other-source-namespaces" -}}
{{- $globs = include "secretcast.list" . | fromJsonArray -}}
{{- end -}}
{{- ternary "[]" (printf "['%s']" (join "', '" $globs)) (empty $globs) -}}
{{- end -}}

{{- /* Empty where the chart makes no role and no binding. */ -}}
{{- define "secretcast.rbac" -}}
{{- ternary "true" "" (get (.Values.rbac | default dict) "create" | toString | ne "false") -}}
{{- end -}}

{{- /* Empty where no cluster-scoped object is wanted. Every other guard of the values is here too, since every
template that depends on one asks this. */ -}}
{{- define "secretcast.clusterRole" -}}
{{- if and .Values.onlyNames .Values.allSecrets -}}
{{- fail "onlyNames and allSecrets exclude each other: remove allSecrets to let the controller read Secrets of these names alone, or onlyNames to let it read every Secret" -}}
{{- else if not (or .Values.onlyNames .Values.allSecrets) -}}
{{- fail "choose which Secrets the controller may read: --set 'onlyNames={NAME,NAME}' for those of a few names, or --set allSecrets=true for every one; on an upgrade, give all your values again" -}}
{{- end -}}
{{- if and (not (include "secretcast.rbac" .)) .Values.readerRoles -}}
{{- fail "rbac.create is false, but readerRoles are roles: set one of the two" -}}
{{- end -}}
{{- if get (.Values.rbac | default dict) "clusterRole" | toString | ne "false" -}}
true
{{- else if not (get (include "secretcast.flags" . | fromYaml) "namespaces") -}}
{{- fail "rbac.clusterRole is false, but flags.namespaces names no namespace: rights in all namespaces need a ClusterRole. Set flags.namespaces, or remove rbac.clusterRole" -}}
{{- else -}}
{{- range list "guardrail" "tenantGuard" "leasePriority" "readerRoles" "earlyCheck" "earlyCheckDeny" "pullSecrets" -}}
{{- if get $.Values . -}}
{{- fail (printf "rbac.clusterRole is false, but %s needs a cluster-scoped object: set %s to false, or remove rbac.clusterRole" . .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Rights by name: the guardrail refuses what RBAC cannot, unless its value is given. */ -}}
{{- define "secretcast.guardrail" -}}
{{- if kindIs "bool" .Values.guardrail -}}
{{- ternary "true" "" .Values.guardrail -}}
{{- else if and .Values.onlyNames (include "secretcast.clusterRole" .) -}}
true
{{- end -}}
{{- end -}}

{{- /* The rules for objects of one resource. */ -}}
{{- define "secretcast.objectRules" -}}
{{- $writes := and .writes (not (get (include "secretcast.flags" .root | fromYaml) "dry-run")) -}}
{{- include (ternary "secretcast.rules.write" "secretcast.rules.read" $writes) (dict "resource" .resource "names" .root.Values.onlyNames) -}}
{{- end -}}

{{- /* Not empty where Events on the Lease and on the source list need rights of their own. */ -}}
{{- define "secretcast.ownEvents" -}}
{{- if and (get (include "secretcast.flags" . | fromYaml) "namespaces") (not (get (include "secretcast.flags" . | fromYaml) "dry-run")) -}}
true
{{- end -}}
{{- end -}}

{{- /* The rules in the namespace of the Lease, or nothing. */ -}}
{{- define "secretcast.homeRules" -}}
{{- $flags := include "secretcast.flags" . | fromYaml -}}
{{- $elects := and (ternary (get $flags "leader-elect") true (hasKey $flags "leader-elect")) (not (get $flags "dry-run")) -}}
{{- $lists := and (include "secretcast.sourceList" .) (eq (include "secretcast.leaseNamespace" .) (include "secretcast.namespace" .)) -}}
{{- $rules := list -}}
{{- if $elects -}}
{{- $rules = append $rules (include "secretcast.rules.lease" .) -}}
{{- end -}}
{{- if $lists -}}
{{- $rules = append $rules (include "secretcast.rules.sourceList" .) -}}
{{- end -}}
{{- if and $rules (include "secretcast.ownEvents" .) -}}
{{- $rules = append $rules (include "secretcast.rules.events" .) -}}
{{- end -}}
{{- join "\n" $rules | trim -}}
{{- end -}}

{{- /* What to do where the API server cannot change Pods by itself. */ -}}
{{- define "secretcast.pullSecretsTooEarly" -}}
pullSecrets needs Kubernetes 1.36, whose API server has MutatingAdmissionPolicy v1; this one is {{ .Capabilities.KubeVersion.Version }}. Set pullSecrets to false, and name the Secrets in Pod templates (spec.imagePullSecrets) or in the service accounts of each namespace: kubectl patch serviceaccount default -n NAMESPACE -p '{"imagePullSecrets":[{{ range $at, $name := .Values.pullSecretNames }}{{ if $at }},{{ end }}{"name":"{{ $name }}"}{{ end }}]}'. Where there is no cluster to ask, as with `helm template`, tell its version by --kube-version.
{{- end -}}
