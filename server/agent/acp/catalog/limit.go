package catalog

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"agentctl/internal/resettime"
	"agentctl/protocol"
)

// A Failure is the failure that ended a turn: an error of the agent, or its text. Code is 0 without an
// error.
type Failure struct {
	Code int
	Data json.RawMessage
	Text string
}

// limitForms report whether a failure is a usage limit of the agent's account, in a form that one
// agent uses.
var limitForms = []func(f *Failure) bool{claudeLimit, codexLimit, geminiLimit, limitInWords}

// IsLimit reports whether a failure is a usage limit of the agent's account. An agent has tried again
// before it fails at a limit that ends soon.
func (f *Failure) IsLimit() bool {
	return slices.ContainsFunc(limitForms, func(is func(*Failure) bool) bool { return is(f) })
}

// ResetsAt returns when the limit ends: the zero time if it is not known.
func (f *Failure) ResetsAt(now time.Time) time.Time {
	var data struct {
		At int64 `json:"resetsAt"` // proposed for ACP: seconds
	}
	if json.Unmarshal(f.Data, &data) == nil && data.At > 0 {
		return time.Unix(data.At, 0)
	}
	at, _ := resettime.In(f.Text, now)
	return at
}

// limitWords are in messages about limits. Copilot (1.0.102), Qwen Code (0.24.4) and OpenCode (1.18.33)
// pass on the message of the provider, Copilot and Qwen Code after the status of HTTP.
var limitWords = []string{
	"usage limit", "rate limit", "rate-limit", "rate_limit", "too many requests", "current quota", "daily quota",
	"your quota", "quota exceeded", "quota_exceeded", "insufficient_quota", "allocated quota", "exhausted your capacity",
	"credit balance", "insufficient balance", "premium request allowance", "ve hit your",
}

var limitStatus = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|: )(?:402|429) `)
})

// limitInWords reads only the message, so it does not read data whose text is not about the account.
func limitInWords(f *Failure) bool {
	text := strings.ToLower(f.Text)
	return !strings.Contains(text, "disk quota") && (limitStatus().MatchString(text) ||
		slices.ContainsFunc(limitWords, func(w string) bool { return strings.Contains(text, w) }))
}

// A LimitReport is what an update says of the windows of the account.
type LimitReport struct {
	Windows []protocol.UsageWindow
	Reached bool      // the account may not be used now
	Resets  time.Time // when it may; zero: not known
}

// sortWindows sorts windows by their length, as far as their names show it.
func sortWindows(list []protocol.UsageWindow) {
	length := func(name string) int {
		return slices.IndexFunc(
			[]string{"hour", "day", "week"}, func(unit string) bool { return strings.Contains(name, unit) },
		)
	}
	slices.SortFunc(list, func(a, b protocol.UsageWindow) int {
		return cmp.Or(cmp.Compare(length(a.Name), length(b.Name)), cmp.Compare(a.Name, b.Name))
	})
}
