{{- /* Names, labels and the command line, for the other templates. */ -}}

{{- define "secretcast.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "secretcast.fullname" -}}
{{- $name := include "secretcast.name" . -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- .Values.fullnameOverride | default $full | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "secretcast.selector" -}}
app.kubernetes.io/name: {{ include "secretcast.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "secretcast.labels" -}}
{{- with .Values.commonLabels }}
{{- toYaml . }}
{{ end -}}
{{ include "secretcast.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end -}}

{{- define "secretcast.image" -}}
{{- $tag := printf ":%s" (.Values.image.tag | default .Chart.AppVersion) -}}
{{- .Values.image.repository -}}
{{- ternary (printf "@%s" .Values.image.digest) $tag (ne .Values.image.digest "") -}}
{{- end -}}

{{- define "secretcast.leaseName" -}}
{{- get .Values.flags "lease-name" | default (include "secretcast.fullname" .) -}}
{{- end -}}

{{- define "secretcast.leaseNamespace" -}}
{{- get .Values.flags "lease-namespace" | default .Release.Namespace -}}
{{- end -}}

{{- /* The pod's port for probes and metrics is where --http-address listens. */ -}}
{{- define "secretcast.httpPort" -}}
{{- get .Values.flags "http-address" | default "0.0.0.0:8080" | splitList ":" | last -}}
{{- end -}}

{{- /* The election is always named; other flags only when they are given. Numbers come as floats. */ -}}
{{- define "secretcast.args" -}}
{{- $flags := .Values.flags -}}
{{- $elect := ternary (get $flags "leader-elect") true (hasKey $flags "leader-elect") -}}
{{- $args := list "run" (ternary "--leader-elect" "--no-leader-elect" $elect) -}}
{{- $lease := include "secretcast.leaseName" . -}}
{{- if ne $lease "secretcast" -}}
{{- $args = append $args (printf "--lease-name=%s" $lease) -}}
{{- end -}}
{{- range $flag, $value := omit $flags "leader-elect" "lease-name" -}}
{{- if kindIs "slice" $value -}}
{{- $value = join "," $value -}}
{{- else if kindIs "float64" $value -}}
{{- $value = int64 $value -}}
{{- end -}}
{{- $args = append $args (printf "--%s=%v" $flag $value) -}}
{{- end -}}
{{- toYaml $args -}}
{{- end -}}
