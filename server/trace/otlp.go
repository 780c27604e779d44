package trace

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"
)

// The types of an ExportTraceServiceRequest in JSON, with the fields that are used.
type (
	exportRequest struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource struct {
			Attributes []attribute `json:"attributes"`
		} `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	scopeSpans struct {
		Scope struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"scope"`
		Spans []otlpSpan `json:"spans"`
	}
	otlpSpan struct {
		TraceID    string      `json:"traceId"`
		SpanID     string      `json:"spanId"`
		ParentID   string      `json:"parentSpanId,omitempty"`
		Name       string      `json:"name"`
		Kind       int         `json:"kind"`
		Start      string      `json:"startTimeUnixNano"`
		End        string      `json:"endTimeUnixNano"`
		Attributes []attribute `json:"attributes,omitempty"`
		Status     status      `json:"status"`
	}
	attribute struct {
		Key   string         `json:"key"`
		Value attributeValue `json:"value"`
	}
	attributeValue struct {
		String string `json:"stringValue"`
	}
	status struct {
		Code    int    `json:"code,omitempty"`
		Message string `json:"message,omitempty"`
	}
)

const (
	kindInternal = 1
	statusError  = 2
)

// encode returns the body of a request.
func encode(o *Options, spans []*Span) []byte {
	var resource resourceSpans
	resource.Resource.Attributes = attributes([]Attribute{{"service.name", o.Service}, {"service.version", o.Version}})
	var scope scopeSpans
	scope.Scope.Name, scope.Scope.Version = "agentctl", o.Version
	for _, s := range spans {
		out := otlpSpan{
			TraceID: hex.EncodeToString(s.Trace[:]), SpanID: hex.EncodeToString(s.Span[:]), Name: s.name,
			Kind: kindInternal, Start: nanos(s.start), End: nanos(s.end), Attributes: attributes(s.attributes),
		}
		if s.parent != [8]byte{} {
			out.ParentID = hex.EncodeToString(s.parent[:])
		}
		if s.code != "" {
			out.Status = status{statusError, s.code}
		}
		scope.Spans = append(scope.Spans, out)
	}
	resource.ScopeSpans = []scopeSpans{scope}
	b, _ := json.Marshal(exportRequest{[]resourceSpans{resource}}) // texts and numbers never fail
	return b
}

func attributes(list []Attribute) (out []attribute) {
	for _, a := range list {
		if a.Value != "" {
			out = append(out, attribute{a.Key, attributeValue{a.Value}})
		}
	}
	return out
}

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }
