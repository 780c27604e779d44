package dashboard

import (
	"context"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

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

// labelForm returns the form that sets or removes a label of sessions.
func labelForm(b *bulk, sessions []protocol.Summary) *ui.Form {
	title := "labels of " + b.namesOf(sessions)
	if len(sessions) == 1 {
		title += ui.Prefixed(": ", ui.Excerpt(labelsText(sessions[0].Labels)))
	}
	f := ui.NewForm(b.requests.styles, title, "enter saves · esc cancels",
		ui.NewField("label", "", "KEY=VALUE; KEY- removes a label"))
	f.Submit = func(f *ui.Form) ui.Response {
		text := strings.TrimSpace(f.Value(0))
		key, value, isLabel := strings.Cut(text, "=")
		if removed, ok := strings.CutSuffix(text, "-"); !isLabel && ok {
			key, isLabel = removed, true
		}
		labels := map[string]string{key: value}
		switch err := protocol.CheckLabels(labels); {
		case !isLabel && text != "":
			f.Fail("a label is KEY=VALUE", "")
			return ui.Response{}
		case isLabel && err != nil:
			f.Fail(remote.ErrorText(err), "")
			return ui.Response{}
		case !isLabel:
			return ui.Response{Close: true}
		}
		return ui.Response{Close: true, Cmd: b.run(labelAction(protocol.LabelData{Labels: labels}), sessions)}
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
