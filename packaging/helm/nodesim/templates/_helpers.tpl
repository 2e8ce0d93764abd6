{{- define "nodesim.selector" -}}
app.kubernetes.io/name: nodesim
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "nodesim.labels" -}}
{{ include "nodesim.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
{{- define "nodesim.name" -}}
{{- if contains "nodesim" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-nodesim{{ end -}}
{{- end }}
{{- /* A recorder with a claim of its own is one of a StatefulSet. */}}
{{- define "nodesim.kind" -}}
{{ if .Values.volume.claim }}StatefulSet{{ else }}Deployment{{ end }}
{{- end }}
{{- /* What the names of the pods match. Those of a Deployment with a long name are cut. */}}
{{- define "nodesim.pods" -}}
{{- $name := include "nodesim.name" . }}
{{- if gt (len $name) 46 }}{{ trunc 46 $name }}.*{{ else }}{{ $name }}-{{ if .Values.volume.claim }}[0-9]+{{ else }}[a-z0-9]+-[a-z0-9]{5}{{ end }}{{ end }}
{{- end }}
{{- /* The seconds of a duration such as 1h30m. */}}
{{- define "nodesim.seconds" -}}
{{- $n := 0.0 }}
{{- range regexFindAll "[0-9.]+(ms|h|m|s)" . -1 }}
{{- $v := regexFind "[0-9.]+" . | float64 }}
{{- if hasSuffix "ms" . }}{{ $n = addf $n (mulf $v 0.001) }}{{ else if hasSuffix "h" . }}{{ $n = addf $n (mulf $v 3600.0) }}{{ else if hasSuffix "m" . }}{{ $n = addf $n (mulf $v 60.0) }}{{ else }}{{ $n = addf $n $v }}{{ end }}
{{- end }}{{ $n }}
{{- end }}
