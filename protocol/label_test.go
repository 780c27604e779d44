package protocol

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

func TestChangeLabelsSetsAndRemoves(t *testing.T) {
	before := map[string]string{"team": "infra", "old": "1"}
	got := ChangeLabels(before, map[string]string{"old": "", "env": "prod", "none": ""})
	if want := map[string]string{"team": "infra", "env": "prod"}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if want := map[string]string{"team": "infra", "old": "1"}; !maps.Equal(before, want) {
		t.Errorf("the former labels changed to %v", before)
	}
	if got := ChangeLabels(map[string]string{"a": "1"}, map[string]string{"a": ""}); got != nil {
		t.Errorf("without the last label: %v, want nil", got)
	}
}

func TestCheckLabels(t *testing.T) {
	many := map[string]string{}
	for i := range MaxLabels {
		many[fmt.Sprint("k", i)] = "v"
	}
	for name, labels := range map[string]map[string]string{
		"none": nil, "removal": {"a": ""}, "most": many, "path": {"a.b/c-d_e": "x y"},
		"longest": {strings.Repeat("k", MaxLabelKey): strings.Repeat("v", MaxLabelValue)}, "text": {"k": "漢=,"},
	} {
		if err := CheckLabels(labels); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	tooMany := maps.Clone(many)
	tooMany["one-more"] = "v"
	for name, labels := range map[string]map[string]string{
		"too many": tooMany, "no key": {"": "v"}, "sign": {"a=b": "v"}, "space": {"a b": "v"}, "ends in -": {"a-": "v"},
		"begins with -": {"-a": "v"}, "long key": {strings.Repeat("k", MaxLabelKey+1): "v"}, "not ASCII": {"é": "v"},
		"long value": {"k": strings.Repeat("v", MaxLabelValue+1)}, "lines": {"k": "a\nb"}, "escape": {"k": "\x1b[2J"},
		"not UTF-8": {"k": "\xff"}, "bidi": {"k": "a\u202eb"},
	} {
		if err := CheckLabels(labels); CodeOf(err) != CodeInvalidMessage {
			t.Errorf("%s: %v, want %s", name, err, CodeInvalidMessage)
		}
	}
}
