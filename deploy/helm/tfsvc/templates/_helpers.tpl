{{- define "tfsvc.name" -}}
{{ if contains "tfsvc" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-tfsvc{{ end }}
{{- end }}

{{- define "tfsvc.selector" -}}
app.kubernetes.io/name: tfsvc
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "tfsvc.labels" -}}
{{ include "tfsvc.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- /* Where the dispatcher is. A name, since its address is another one after a restart. */ -}}
{{- define "tfsvc.dispatcher" -}}
dns:{{ include "tfsvc.name" . }}-dispatcher.{{ .Release.Namespace }}.svc:5050
{{- end }}

{{- define "tfsvc.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- /* What all pods have in common: nobody is root, nothing can be written but /tmp and the volumes. */ -}}
{{- define "tfsvc.pod" -}}
automountServiceAccountToken: {{ if .Values.serviceAccountName }}true{{ else }}false{{ end }}
{{- with .Values.serviceAccountName }}
serviceAccountName: {{ . }}
{{- end }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
enableServiceLinks: false # variables like TFSVC_... are ours
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- end }}

{{- define "tfsvc.container" -}}
image: {{ include "tfsvc.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
startupProbe:
  httpGet: { path: /healthz, port: http }
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /healthz, port: http }
  periodSeconds: 10
  timeoutSeconds: 6
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /readyz, port: http }
  periodSeconds: 5
  timeoutSeconds: 6
{{- end }}

{{- define "tfsvc.environment" -}}
- name: POD_NAME
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
{{- if .Values.security.tokenSecret }}
- name: TFSVC_TOKEN_FILE
  value: /etc/tfsvc/token/token
{{- end }}
{{- if .Values.security.tlsSecret }}
- name: TFSVC_TLS_CA
  value: /etc/tfsvc/tls/ca.crt
- name: TFSVC_TLS_CERT
  value: /etc/tfsvc/tls/tls.crt
- name: TFSVC_TLS_KEY
  value: /etc/tfsvc/tls/tls.key
{{- end }}
{{- end }}

{{- define "tfsvc.mounts" -}}
- { name: tmp, mountPath: /tmp }
{{- if .Values.security.tokenSecret }}
- { name: token, mountPath: /etc/tfsvc/token, readOnly: true }
{{- end }}
{{- if .Values.security.tlsSecret }}
- { name: tls, mountPath: /etc/tfsvc/tls, readOnly: true }
{{- end }}
{{- end }}

{{- define "tfsvc.volumes" -}}
- name: tmp
  emptyDir: {}
{{- with .Values.security.tokenSecret }}
- name: token
  secret: { secretName: {{ . }}, defaultMode: 0440 }
{{- end }}
{{- with .Values.security.tlsSecret }}
- name: tls
  secret: { secretName: {{ . }}, defaultMode: 0440 }
{{- end }}
{{- end }}
