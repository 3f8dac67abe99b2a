{{- define "hub.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "hub.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.Version }}
{{- end }}
{{- define "hub.routes" -}}
{{- $name := .Release.Name -}}
{{- range $i := until 3 }}{{ if $i }},{{ end }}{{ $name }}-{{ $i }}.{{ $name }}-hubs:6222{{ end -}}
{{- end }}
