package transport

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentctl/internal/resettime"
	"agentctl/protocol"
	"agentctl/server/agent/llm/model"
)

// maxMessage bounds the message of an error, in bytes.
const maxMessage = 600

// failure is an error of a provider, in the forms that they use.
type failure struct {
	Message string
	Type    string
	Code    any // a text or a number
	Status  any
	Detail  any
	Error   any // a text, or of the forms above
	Details []struct {
		RetryDelay string
		Violations []struct{ QuotaID string }
	}
	ResetsIn float64 `json:"resets_in_seconds"` // of a subscription
}

// DecodeError returns the error of an answer. The class is empty if the answer is not an error.
func DecodeError(status int, header http.Header, text []byte) *model.Error {
	return decodeFailure(text).error(status, header)
}

// Unmarshal decodes an event of a stream. Values of other types, as unknown events may have, are left out.
func Unmarshal(data []byte, event any) error {
	err := json.Unmarshal(data, event)
	if _, other := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !other {
		return model.Errorf(model.Malformed, "the answer cannot be read: %v", err)
	}
	return nil
}

// DecodeEvent returns the error that an event of a stream holds.
func DecodeEvent(data []byte) *model.Error {
	e := decodeFailure(data).error(0, nil)
	if e.Class == "" {
		e.Class = model.ServerFail
	}
	if e.Message == "" {
		e.Message = "the provider reported a failure"
	}
	return e
}

func (f failure) error(status int, header http.Header) *model.Error {
	if n, err := strconv.Atoi(fmt.Sprint(f.Code)); err == nil && status < 400 && n >= 400 {
		status = n
	}
	if status < 400 {
		status = 0
	}
	message := strings.Join(strings.Fields(f.Message), " ")
	if message == "" && status != 0 {
		message = "the provider failed: " + http.StatusText(status)
	}
	kind := strings.ToLower(fmt.Sprint(f.Type, " ", f.Code, " ", f.Status))
	e := &model.Error{
		Status: status, Message: protocol.SplitText(protocol.ValidText(message), maxMessage)[0],
		Class: classOf(status, kind, strings.ToLower(message)), After: retryAfter(header, &f, message),
	}
	if strings.Contains(kind, "resource_exhausted") { // Google has one status and one message for all limits
		switch {
		case f.perDay():
			e.Class, e.After = model.Quota, 0 // the delay is of another limit
		case e.After > 0:
			e.Class = model.RateLimit
		}
	}
	return e
}

// perDay reports whether Google names a quota of the day.
func (f *failure) perDay() bool {
	for _, d := range f.Details {
		for _, v := range d.Violations {
			if strings.Contains(v.QuotaID, "PerDay") {
				return true
			}
		}
	}
	return false
}

// decodeFailure reads an error in any of the forms that providers use. Of other text it is empty.
func decodeFailure(text []byte) (f failure) {
	var list []json.RawMessage
	if json.Unmarshal(text, &list) == nil && len(list) > 0 {
		text = list[0]
	}
	if json.Unmarshal(text, &f) != nil {
		return failure{}
	}
	switch inner := f.Error.(type) {
	case string:
		f.Message = inner
	case map[string]any:
		b, err := json.Marshal(inner)
		if err != nil {
			return f
		}
		f = failure{}
		_ = json.Unmarshal(b, &f) // as far as possible
	}
	if detail, ok := f.Detail.(string); ok && f.Message == "" {
		f.Message = detail
	}
	return f
}

// classes are the classes of errors by words in their type, code or message. The first match wins.
var classes = []struct {
	class   model.Class
	kind    []string // in type, code or status
	message []string
}{
	{
		model.Context,
		[]string{"context_length_exceeded", "request_too_large"},
		[]string{
			"prompt is too long", "maximum context length", "context window", "context length",
			"exceeds the maximum number of tokens",
		},
	},
	{
		model.Quota,
		[]string{"insufficient_quota", "billing", "payment_required", "usage_limit"},
		[]string{
			"credit balance is too low", "exceeded your current quota, please check your plan",
			"reached your specified api usage limits",
		},
	},
	{model.RateLimit, []string{"rate_limit", "resource_exhausted", "too_many_requests"}, nil},
	{model.Overloaded, []string{"overloaded", "unavailable", "slow_down"}, nil},
	{
		model.Auth,
		[]string{"authentication", "permission", "unauthenticated", "invalid_api_key"},
		[]string{"api key not valid", "invalid api key", "incorrect api key"},
	},
	{model.NoModel, []string{"model_not_found", "not_found"}, nil},
	{model.ServerFail, []string{"server_error", "api_error", "internal", "timeout_error"}, nil},
	{model.Invalid, []string{"invalid_request", "invalid_argument", "invalid_prompt", "failed_precondition"}, nil},
}

// classOf returns the class of an error: from its kind or message if the status is not an error or
// if they name the context or the quota, else from its status.
func classOf(status int, kind, message string) model.Class {
	for _, c := range classes {
		if containsAny(kind, c.kind) || containsAny(message, c.message) {
			if status < 400 || c.class == model.Context || c.class == model.Quota {
				return c.class
			}
			break
		}
	}
	switch class := statusClasses[status]; {
	case status < 400:
		return ""
	case class != "":
		return class
	case status >= 500:
		return model.ServerFail
	case strings.Contains(message, "api key not valid"): // of Google, with status 400
		return model.Auth
	}
	return model.Invalid
}

// statusClasses are the classes of errors by their status.
var statusClasses = map[int]model.Class{
	http.StatusUnauthorized:          model.Auth,
	http.StatusPaymentRequired:       model.Quota,
	http.StatusForbidden:             model.Auth,
	http.StatusNotFound:              model.NoModel,
	http.StatusRequestTimeout:        model.Timeout,
	http.StatusConflict:              model.ServerFail,
	http.StatusRequestEntityTooLarge: model.Context,
	http.StatusTooManyRequests:       model.RateLimit,
	http.StatusServiceUnavailable:    model.Overloaded,
	http.StatusGatewayTimeout:        model.Timeout,
	529:                              model.Overloaded,
}

func containsAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// retryAfter returns the delay that a provider asks for, in the header, the details or the text;
// 0: none.
func retryAfter(header http.Header, f *failure, message string) time.Duration {
	if ms, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return duration(ms, time.Millisecond)
	}
	after := header.Get("Retry-After")
	if s, err := strconv.ParseFloat(after, 64); err == nil && s > 0 {
		return duration(s, time.Second)
	}
	if at, err := http.ParseTime(after); err == nil {
		return max(0, time.Until(at))
	}
	for _, d := range f.Details {
		if v, err := time.ParseDuration(d.RetryDelay); err == nil && v > 0 {
			return v
		}
	}
	if f.ResetsIn > 0 {
		return duration(f.ResetsIn, time.Second)
	}
	now := time.Now().UTC()
	if at, ok := resettime.In(message, now); ok {
		return max(0, min(at.Sub(now), maxAfter))
	}
	return 0
}

// maxAfter bounds a delay before its arithmetic could overflow.
const maxAfter = 30 * 24 * time.Hour

func duration(n float64, unit time.Duration) time.Duration {
	return time.Duration(min(n*float64(unit), float64(maxAfter)))
}
