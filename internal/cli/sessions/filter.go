package sessions

import (
	"slices"
	"strings"

	"agentctl/internal/exit"
	"agentctl/protocol"
)

// A sessionFilter is a condition on a session: the alternatives of one kind, one of which must
// hold. A label has a key, and a value unless any value will do.
type sessionFilter struct {
	kind         string // status, agent, label, name or dir
	alternatives []string
}

var filterKinds = []string{"status", "agent", "label", "name", "dir"}

// statuses are the values of the kind status.
var statuses = []string{
	string(protocol.Idle), string(protocol.Running), string(protocol.Waiting), string(protocol.Closed),
}

// wantsClosed reports whether a condition holds for closed sessions alone, which a list leaves out
// otherwise.
func wantsClosed(filters []sessionFilter) bool {
	return slices.ContainsFunc(filters, func(f sessionFilter) bool {
		return f.kind == "status" && slices.Contains(f.alternatives, string(protocol.Closed))
	})
}

// wantsArchived reports whether a condition names the label of archived sessions, which a table leaves
// out otherwise.
func wantsArchived(filters []sessionFilter) bool {
	return slices.ContainsFunc(filters, func(f sessionFilter) bool {
		key, _, _ := strings.Cut(f.alternatives[0], "=")
		return f.kind == "label" && key == protocol.LabelArchived
	})
}

// parseSessionFilters parses conditions KIND=VALUE, separated by commas. Conditions of one kind are
// alternatives, except labels; conditions of different kinds must all hold.
func parseSessionFilters(args []string) ([]sessionFilter, error) {
	var out []sessionFilter
	for _, condition := range strings.Split(strings.Join(args, ","), ",") {
		if condition == "" {
			continue
		}
		kind, value, ok := strings.Cut(condition, "=")
		if !ok || value == "" || !slices.Contains(filterKinds, kind) {
			return nil, exit.Usagef("invalid --filter %q: want KIND=VALUE, KIND one of %s", condition,
				strings.Join(filterKinds, ", "))
		}
		if kind == "status" && !slices.Contains(statuses, value) {
			return nil, exit.Usagef("invalid --filter %q: want one of %s", condition, strings.Join(statuses, ", "))
		}
		i := slices.IndexFunc(out, func(f sessionFilter) bool { return f.kind == kind && kind != "label" })
		if i >= 0 {
			out[i].alternatives = append(out[i].alternatives, value)
			continue
		}
		out = append(out, sessionFilter{kind, []string{value}})
	}
	return out, nil
}

// matches reports whether a session meets the condition.
func (f *sessionFilter) matches(s *protocol.Summary) bool {
	return slices.ContainsFunc(f.alternatives, func(value string) bool {
		switch f.kind {
		case "status":
			return string(s.Status) == value
		case "agent":
			return s.Agent == value
		case "name":
			return strings.Contains(strings.ToLower(s.Name), strings.ToLower(value))
		case "dir":
			return s.CWD == value || strings.HasPrefix(s.CWD, strings.TrimSuffix(value, "/")+"/")
		}
		key, want, hasValue := strings.Cut(value, "=")
		got, ok := s.Labels[key]
		return ok && (!hasValue || got == want)
	})
}

// matchesAll reports whether a session meets all conditions.
func matchesAll(filters []sessionFilter, s *protocol.Summary) bool {
	return !slices.ContainsFunc(filters, func(f sessionFilter) bool { return !f.matches(s) })
}
