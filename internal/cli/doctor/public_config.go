package doctor

import (
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"time"

	"agentctl/dialect"
	"agentctl/internal/config"
)

// A publicForm returns the text of a value if it has the form.
type publicForm func(v any) (string, bool)

// publicConfig lists the settings whose values a report of a bug shows, of both files, by the form
// that the value must have. A setting that is not listed is never shown.
var publicConfig = sync.OnceValue(func() map[string]publicForm {
	return map[string]publicForm{
		"mouse": flag, "bell": flag, "notify": flag, "color": flag, "keep": count,
		"theme": oneOf(config.Themes()...), "images": oneOf("auto", "off", "kitty", "blocks"),
		"dialect": oneOf(dialect.Names()...), "notify_states[]": oneOf("waiting", "failed", "finished"),

		"sandbox.mode": oneOf("off", "workspace", "read-only"), "sandbox.network": oneOf("on", "off"),
		"continue_after_limit": count, "window": count, "sync": oneOf("normal", "full"),
		"approval_timeout": duration, "edit_hold": duration, "agent_idle": duration, "state_ttl": duration,
		"retention.age": duration, "retention.sessions": count, "retention.bytes": count,
		"limits.connections": count, "limits.per_sender": count, "limits.reserve": count, "limits.unauthenticated": count,
		"limits.message": count, "limits.inflight": count, "limits.rate": count, "limits.sessions": count,
		"limits.agents": count, "limits.disk": count, "limits.queue": count, "limits.requests": count,
		"limits.rules": count, "limits.sub_agents": count, "limits.session_bytes": count, "limits.log_memory": count,
	}
})

// publicValue returns the text of a setting that publicConfig lists.
func publicValue(path string, v any) (string, bool) {
	form := publicConfig()[path]
	if form == nil {
		return "", false
	}
	return form(v)
}

func flag(v any) (string, bool) {
	b, ok := v.(bool)
	return strconv.FormatBool(b), ok
}

func count(v any) (string, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return "", false
	}
	i, err := n.Int64()
	return strconv.FormatInt(i, 10), err == nil
}

func duration(v any) (string, bool) {
	text, _ := v.(string)
	d, err := time.ParseDuration(text)
	return d.String(), err == nil
}

func oneOf(texts ...string) publicForm {
	return func(v any) (string, bool) {
		text, _ := v.(string)
		return text, slices.Contains(texts, text)
	}
}
