// Package trace makes spans and exports them to an OpenTelemetry collector, as OTLP over HTTP in
// JSON. It knows no session and no command.
package trace
