package main

import (
	"cmp"
	"log/slog"
	"net/url"
	"strings"

	"agentctl/server/trace"
)

// newTraces returns the exporter of traces if the environment names a collector, with the variables
// of OpenTelemetry, or nil.
func newTraces(env func(string) string, log *slog.Logger) *trace.Exporter {
	endpoint := env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if base := env("OTEL_EXPORTER_OTLP_ENDPOINT"); endpoint == "" && base != "" {
		endpoint = strings.TrimSuffix(base, "/") + "/v1/traces"
	}
	if endpoint == "" || env("OTEL_SDK_DISABLED") == "true" {
		return nil
	}
	headers := map[string]string{}
	given := cmp.Or(env("OTEL_EXPORTER_OTLP_TRACES_HEADERS"), env("OTEL_EXPORTER_OTLP_HEADERS"))
	for pair := range strings.SplitSeq(given, ",") {
		if name, value, ok := strings.Cut(strings.TrimSpace(pair), "="); ok {
			if plain, err := url.PathUnescape(value); err == nil {
				value = plain
			}
			headers[name] = value
		}
	}
	return trace.New(trace.Options{
		URL: endpoint, Headers: headers, Service: cmp.Or(env("OTEL_SERVICE_NAME"), "agentctl"),
		Version: programVersion(), Log: log,
	})
}
