package acp

import (
	"encoding/json"
	"testing"

	"agentctl/protocol"
)

func TestStringsAreReadAsTheDecoderReadsThem(t *testing.T) {
	all := []string{``, `a`, `\`, `a\`, `\\`, `\\\`, `\n\tx\"`, `\u00e9\ud83d\ude00`, `\ud800x`, `\u12`, `a\nb\u0041\n`}
	for c := range 128 {
		all = append(all, `x\`+string(rune(c))+`y`)
	}
	for _, s := range all {
		var want string
		valid := json.Unmarshal([]byte(`"`+s+`"`), &want) == nil
		if got, ok := unescape([]byte(s)); ok != valid || ok && got != want {
			t.Errorf("%q is read as %q, %v, decoded as %q, %v", s, got, ok, want, valid)
		}
		var text string
		in := scanner{[]byte(s + `"}`)}
		if ok := in.text(&text); ok != valid || ok && (text != want || string(in.rest) != `}`) {
			t.Errorf("%q is read as %q before %q, %v, decoded as %q", s, text, in.rest, ok, want)
		}
	}
}

func TestValuesAreCutWhole(t *testing.T) {
	for _, v := range []string{
		`0`, `-1.5e3`, `true`, `null`, `""`, `"a\"}],b"`, `"\\"`, `[]`, `{}`, `[1,{"a":"]\\"},[]]`,
		`{"a":[{"b":"}"}],"c":2}`,
	} {
		for _, after := range []string{`}`, `]`, `,"x":1}`} {
			var got []byte
			in := scanner{[]byte(v + after)}
			if ok := in.value(&got); !ok || string(got) != v || string(in.rest) != after {
				t.Errorf("%s%s: %s before %s, %v", v, after, got, in.rest, ok)
			}
		}
	}
	for _, v := range []string{``, ` 1`, `,`, `}`, `"a`, `[1`, `{"a":"b`} {
		var got []byte
		if in := (scanner{[]byte(v)}); in.value(&got) {
			t.Errorf("%s: %s", v, got)
		}
	}
}

// Modes of Copilot (1.0.102) have URLs as ids, and names.
func TestASettingIsChosenByItsName(t *testing.T) {
	const modes = "https://agentclientprotocol.com/protocol/session-modes#"
	var s settings
	s.applyConfig([]configOption{{
		ID: "mode", Name: "Mode", Value: json.RawMessage(`"` + modes + `agent"`),
		Options: []configChoice{{Value: modes + "agent", Name: "Agent"}, {Value: modes + "plan", Name: "Plan"}},
	}})
	for _, text := range []string{"plan", "Plan", modes + "plan"} {
		kind, id, value, err := s.choose("Mode", text)
		if kind != selectSetting || id != "mode" || value != modes+"plan" || err != nil {
			t.Errorf("%s: %v, %s, %s, %v", text, kind, id, value, err)
		}
	}
	if _, _, _, err := s.choose("mode", "chat"); protocol.CodeOf(err) != protocol.CodeInvalidMessage {
		t.Error(err)
	}
}
