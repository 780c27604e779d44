package dialect

import (
	"slices"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// featureRows are the features that have a row in the table of docs/dialects.md.
var featureRows = map[codec.Feature]string{
	codec.SendFront:      "send ahead of the queue",
	codec.SendSteer:      "send, deliver in the current turn",
	codec.InterruptHold:  "interrupt, hold the queue",
	codec.InterruptClear: "interrupt, clear the queue",
	codec.AllowAlways:    "approve: allow always",
	codec.DenyStop:       "approve: deny and stop",
	codec.Explain:        "approve: explain",
}

func TestTheFeaturesThatADialectLacksAreThoseOfTheTable(t *testing.T) {
	table := supportTable(t)
	for _, name := range Names() {
		d, _ := Find(name)
		for feature, row := range featureRows {
			cell, verb := table[row][name], protocol.Verb(strings.FieldsFunc(row, func(r rune) bool {
				return r == ' ' || r == ',' || r == ':'
			})[0])
			if d.Unsupported(verb, false) != nil {
				continue // the whole command
			}
			if lacks := d.UnsupportedFeature(feature, false) != nil; lacks != (cell == "✗") {
				t.Errorf("%s: %s: lacks %v; the table says %s", name, feature, lacks, cell)
			}
			err := d.UnsupportedFeature(feature, true)
			if (err != nil) != (cell == "✗" || cell == "kept") || err != nil && strings.HasSuffix(err.Error(), ": ") {
				t.Errorf("%s: %s, one-shot: %v; the table says %s", name, feature, err, cell)
			}
		}
	}
}

func TestUnsupportedCommandsAreKnownWithoutAServer(t *testing.T) {
	table := supportTable(t)
	for _, name := range Names() {
		d, _ := Find(name)
		for _, command := range protocol.Commands {
			rows := rowsOf(table, command.Verb)
			if command.Connection || len(rows) == 0 {
				continue
			}
			for _, oneShot := range []bool{false, true} {
				supported := slices.ContainsFunc(rows, func(row map[string]string) bool {
					return row[name] != "✗" && !(oneShot && row[name] == "kept")
				})
				err := d.Unsupported(command.Verb, oneShot)
				if supported != (err == nil) && !(name == "myagent" && command.Verb == protocol.DoList) {
					t.Errorf("%s, one-shot %v: %s: %v; the table says supported: %v", name, oneShot, command.Verb, err,
						supported)
				}
				if err != nil && (protocol.CodeOf(err) != protocol.CodeUnsupported ||
					!strings.HasPrefix(err.Error(), "the dialect "+name+" does not support ") ||
					!strings.Contains(err.Error(), ": ") || strings.Contains(err.Error(), ".")) {
					t.Errorf("%s: %s: %v", name, command.Verb, err)
				}
			}
		}
	}
}
