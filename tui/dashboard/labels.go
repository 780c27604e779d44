package dashboard

import (
	"context"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/ui"
)

// labelsText returns labels as words KEY=VALUE in the order of their keys.
func labelsText(labels map[string]string) string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		out = append(out, key+"="+labels[key])
	}
	return strings.Join(out, " ")
}

// labelForm returns the form that changes labels: of the selected session with one field for each
// label and one for a new label, or of the marked sessions with a new label only.
func labelForm(r *requester, b *bulk, sessions []protocol.Summary) *ui.Form {
	title := "labels of " + format.Count(len(sessions), "session")
	var keys []string
	var fields []ui.Field
	if len(sessions) == 1 {
		s := &sessions[0]
		title = "labels of " + sessionName(s)
		keys = slices.Sorted(maps.Keys(s.Labels))
		for _, key := range keys {
			value := ui.Excerpt(s.Labels[key])
			fields = append(fields, ui.NewField(ui.Excerpt(key), value, "(removed)"))
		}
	}
	fields = append(fields, ui.NewField("new", "", "KEY=VALUE; KEY- removes a label"))
	hint := "enter saves · esc cancels"
	if len(fields) > 1 {
		hint = "tab next field · " + hint
	}
	f := ui.NewForm(r.styles, title, hint, fields...)
	f.Submit = func(f *ui.Form) ui.Response {
		changes := map[string]string{}
		for i, key := range keys {
			if value := strings.TrimSpace(f.Value(i)); value != ui.Excerpt(sessions[0].Labels[key]) {
				changes[key] = value
			}
		}
		if added := strings.TrimSpace(f.Value(len(keys))); added != "" {
			key, value, set := strings.Cut(added, "=")
			if removed, remove := strings.CutSuffix(added, "-"); !set && remove {
				key, set = removed, true
			}
			if !set {
				f.Fail("a new label is KEY=VALUE", "")
				return ui.Response{}
			}
			changes[key] = value
		}
		if err := protocol.CheckLabels(changes); err != nil {
			f.Fail(remote.ErrorText(err), "")
			return ui.Response{}
		}
		if len(changes) == 0 {
			return ui.Response{Close: true}
		}
		data := protocol.LabelData{Labels: changes}
		if len(sessions) > 1 {
			return ui.Response{Close: true, Cmd: b.run(labelAction(data), sessions)}
		}
		f.Sending()
		session := sessions[0].Session
		return ui.Response{Cmd: r.do(session, protocol.DoLabel, data, nil, func(err error) tea.Cmd {
			return r.submitted(f, f, err, nil)
		})}
	}
	return f
}

// labelAction changes labels of several sessions.
func labelAction(data protocol.LabelData) action {
	return action{"labelled", func(ctx context.Context, s remote.Session, _ *protocol.Summary) error {
		return s.Do(ctx, protocol.DoLabel, data, nil)
	}}
}

// toggleLabel removes a label that the first of the sessions has from all of them, else sets it.
func (b *bulk) toggleLabel(key string, sessions []protocol.Summary) tea.Cmd {
	value, done := "true", key
	if len(sessions) > 0 && sessions[0].Labels[key] != "" {
		value, done = "", "no longer "+key
	}
	set := labelAction(protocol.LabelData{Labels: map[string]string{key: value}})
	return b.run(action{done, set.do}, sessions)
}
