package wire

import (
	"testing"
)

func TestADefectIsReportedWithoutTheSchema(t *testing.T) {
	for defect, want := range map[string]string{
		`"{ a: string }\n└─ [\"response\"]\n   └─ is missing"`:                          `["response"] is missing`,
		`"{ a: x | y }\n├─ x\n│  └─ is wrong\n└─ y\n   └─ [\"b\"]\n      └─ no string"`: `y ["b"] no string`,
		`"boom"`: "boom",
		`{"name":"SyntaxError","message":"unexpected end"}`: "unexpected end",
		`{"other":1}`: `{"other":1}`,
	} {
		if got := DefectText([]byte(defect)); got != want {
			t.Errorf("%s: %s, want %s", defect, got, want)
		}
	}
}
