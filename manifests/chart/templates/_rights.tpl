{{- /* The rules of the roles. npm run chart:docs writes this file from src/cli/rights/needed-rights.ts. */ -}}

{{- /* Objects in namespaces that receive copies. */ -}}
{{- define "secretcast.rules.write" -}}
{{- if .names -}}
# get: read before deleting, and to inspect conflicting objects.
# list, watch: the cache.
# patch: copies that change, pulling objects, adoption.
# delete: copies that are removed.
- apiGroups: [""]
  resources: [{{ .resource }}]
  resourceNames: {{ .names | toJson }}
  verbs: [get, list, watch, patch, delete]
# create: new copies.
- apiGroups: [""]
  resources: [{{ .resource }}]
  verbs: [create]
{{- else -}}
# get: read before deleting, and to inspect conflicting objects.
# list, watch: the cache.
# create: new copies.
# patch: copies that change, pulling objects, adoption.
# delete: copies that are removed.
- apiGroups: [""]
  resources: [{{ .resource }}]
  verbs: [get, list, watch, create, patch, delete]
{{- end }}
{{- end -}}

{{- /* Objects in namespaces that only publish. */ -}}
{{- define "secretcast.rules.read" -}}
{{- if .names -}}
# get: read before deleting, and to inspect conflicting objects.
# list, watch: the cache.
- apiGroups: [""]
  resources: [{{ .resource }}]
  resourceNames: {{ .names | toJson }}
  verbs: [get, list, watch]
{{- else -}}
# get: read before deleting, and to inspect conflicting objects.
# list, watch: the cache.
- apiGroups: [""]
  resources: [{{ .resource }}]
  verbs: [get, list, watch]
{{- end }}
{{- end -}}

{{- define "secretcast.rules.events" -}}
# create: Events on sources, the source list and the Lease.
# patch: update recurring Events.
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- end -}}

{{- define "secretcast.rules.namespaces" -}}
# get: read before deleting, and to inspect conflicting objects.
# list, watch: the cache.
- apiGroups: [""]
  resources: [namespaces]
  verbs: [get, list, watch]
{{- end -}}

{{- /* Namespaces by their names, which only a ClusterRole can grant. */ -}}
{{- define "secretcast.rules.listedNamespaces" -}}
# get: read before deleting, and to inspect conflicting objects.
# list, watch: the cache.
- apiGroups: [""]
  resources: [namespaces]
  resourceNames: {{ include "secretcast.namespaces" . }}
  verbs: [get, list, watch]
{{- end -}}

{{- /* The Namespace itself, in a Role. */ -}}
{{- define "secretcast.rules.ownNamespace" -}}
# get: read before deleting, and to inspect conflicting objects.
- apiGroups: [""]
  resources: [namespaces]
  resourceNames: [{{ . | toYaml }}]
  verbs: [get]
{{- end -}}

{{- define "secretcast.rules.lease" -}}
# create: one writer among replicas.
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create]
# get, update: one writer among replicas.
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [{{ include "secretcast.leaseName" . | toYaml }}]
  verbs: [get, update]
{{- end -}}

{{- define "secretcast.rules.sourceList" -}}
# get, list, watch: the source list.
- apiGroups: [""]
  resources: [configmaps]
  resourceNames: [{{ include "secretcast.sourceList" . | toYaml }}]
  verbs: [get, list, watch]
{{- end -}}
