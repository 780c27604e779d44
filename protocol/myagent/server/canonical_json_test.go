package server

import (
	"testing"
)

// MyAgent signs the output of Python's json.dumps(sort_keys=True, separators=(',', ':')).
func TestCanonicalJSONIsPythons(t *testing.T) {
	in := `{"session_id": "会话😀", "b": [1, 2.5, -0.0, true, null, "a\"\\/\n` + "\u007f\u2028" +
		`<>&"], "a": {"z": 1, "A": 2, "é": "x"}}`
	want := `{"a":{"A":2,"z":1,"\u00e9":"x"},"b":[1,2.5,-0.0,true,null,"a\"\\/\n\u007f\u2028<>&"],"session_id":"\u4f1a\u8bdd\ud83d\ude00"}`
	got, err := canonicalJSON([]byte(in))
	if err != nil || string(got) != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
}

// A number in any notation is signed as Python writes it.
func TestCanonicalNumbersArePythons(t *testing.T) {
	for in, want := range map[string]string{
		"0": "0", "-0": "0", "-3": "-3", "100000000000000000000000": "100000000000000000000000", "1.0": "1.0",
		"1e0": "1.0", "1.50": "1.5", "-0.0": "-0.0",
		"1e16": "1e+16", "1E+16": "1e+16", "9999999999999998.0": "9999999999999998.0", "1e15": "1000000000000000.0",
		"1e22":                   "1e+22",
		"12345678901234567890.0": "1.2345678901234567e+19", "0.0001": "0.0001", "0.00001": "1e-05", "1e-7": "1e-07",
		"1.5e-7": "1.5e-07", "0.1": "0.1",
		"0.30000000000000004": "0.30000000000000004", "1.5e300": "1.5e+300", "5e-324": "5e-324", "1e-400": "0.0",
		"2.5e100": "2.5e+100",
	} {
		if got, err := canonicalJSON([]byte(`[` + in + `]`)); err != nil || string(got) != `[`+want+`]` {
			t.Errorf("%s is signed as %s, want %s (%v)", in, got, want, err)
		}
	}
}
