package remote

import "encoding/json"

// DecodeData decodes the data of an event into a new T. Fields that cannot be decoded are zero.
func DecodeData[T any](data json.RawMessage) *T {
	d := new(T)
	_ = json.Unmarshal(data, d)
	return d
}
