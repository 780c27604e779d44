package replay

import (
	"slices"
	"testing"
)

// example returns the one value of a frame as a message.
func example(frame string) Message { return Message{"t", decode(frame)[0]} }

func TestCheckReportsMissingFieldsAndOtherKinds(t *testing.T) {
	s := NewShapes(func(path string) bool { return path == ".answers" })
	s.Learn(ToClient, example(`{"id":"a","n":1,"list":[{"x":null}],"answers":{"why?":["b"]}}`))
	s.Learn(ToClient, example(`{"id":"a","n":null,"more":{"y":true},"list":[],"answers":{}}`))
	for frame, want := range map[string][]string{
		`{"id":"z","n":2,"list":[{"x":null,"new":1}],"answers":{"how?":[]},"new":1}`: nil,
		`{"n":"2","list":[{}],"answers":{"how?":"b"}}`: {
			"t.answers[]: string, not [list]", "t.id: missing", "t.list[].x: missing", "t.n: string, not [null number]",
		},
		`{"id":"a","n":1,"more":{},"list":[7],"answers":[]}`: {
			"t.answers: list, not [object]", "t.list[]: number, not [object]", "t.more.y: missing",
		},
		`[]`: {"t: list, not [object]"},
	} {
		got := s.Check(ToClient, example(frame))
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n  %q\nwant\n  %q", frame, got, want)
		}
	}
	if got := s.Check(ToServer, example(`{}`)); !slices.Equal(got, []string{"t: unknown type"}) {
		t.Errorf("an unknown type: %q", got)
	}
}

func TestEveryMutationIsADifference(t *testing.T) {
	s := NewShapes(nil)
	s.Learn(ToClient, example(`{"id":"a","list":[{"x":1}],"maybe":1}`))
	s.Learn(ToClient, example(`{"id":"a","list":[{"x":"2"}]}`))
	m := example(`{"id":"a","list":[{"x":3}],"maybe":1}`)
	var got []string
	for _, change := range s.mutations(ToClient, m) {
		change.apply()
		if len(s.Check(ToClient, m)) == 0 {
			t.Errorf("%s is no difference", change.what)
		}
		change.undo()
		got = append(got, change.what)
	}
	want := []string{
		"t.id replaced", "t.id removed", "t.list replaced", "t.list removed", "t.list[0] replaced",
		"t.list[0].x replaced", "t.list[0].x removed", "t.maybe replaced",
	}
	if !slices.Equal(got, want) {
		t.Errorf("mutations\n  %q\nwant\n  %q", got, want)
	}
	if found := s.Check(ToClient, m); len(found) > 0 {
		t.Errorf("not undone: %q", found)
	}
}
