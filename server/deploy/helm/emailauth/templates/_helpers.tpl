{{- define "emailauth.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "emailauth.labels" -}}
{{ include "emailauth.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "emailauth.publicUrl" -}}
{{ required "settings.PUBLIC_URL is missing: give the https address of the service, such as https://auth.example.com." .Values.settings.PUBLIC_URL }}
{{- end }}

{{- define "emailauth.secret" -}}
{{ required "secret is missing: give the name of a Secret with DATABASE_URL, SECRET_KEY and SMTP_URL." .Values.secret }}
{{- end }}
