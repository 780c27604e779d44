package attachment

import "encoding/json"

// storedFile is a file in JSON, with the content that was read.
type storedFile struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	Size      int64  `json:"size"`
	Path      string `json:"path,omitempty"`
	Data      []byte `json:"data"`
}

// MarshalJSON returns the file with the content that was read.
func (a File) MarshalJSON() ([]byte, error) {
	return json.Marshal(storedFile{a.Name, a.MediaType, a.Size, a.path, a.data})
}

// UnmarshalJSON sets the file to a stored one. It reads no file.
func (a *File) UnmarshalJSON(b []byte) error {
	var s storedFile
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	*a = File{s.Name, s.MediaType, s.Size, s.Path, s.Data}
	return nil
}
