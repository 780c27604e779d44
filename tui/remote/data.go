package remote

import "encoding/json"

func DecodeData[T any](data json.RawMessage) *T {
	d := new(T)
	// What cannot be decoded shows as what it is: an event without details.
	_ = json.Unmarshal(data, d)
	return d
}
