package compaction

import "agentctl/server/agent/llm/model"

// imageSize is the size of an image, as of its tokens: providers count tiles, not bytes.
const imageSize = 6 << 10

// partSize is the estimated size of a part without its texts.
const partSize = 40

// Sizes are the bytes of a conversation by their kind.
type Sizes struct {
	User      int64 // texts of the user
	Files     int64
	Answers   int64
	Reasoning int64
	Calls     int64
	Results   int64
}

// Total returns the sum.
func (s *Sizes) Total() int64 {
	return s.User + s.Files + s.Answers + s.Reasoning + s.Calls + s.Results
}

// Measure returns the sizes of messages.
func Measure(messages []model.Message) (s Sizes) {
	for i := range messages {
		m := &messages[i]
		for j := range m.Parts {
			s.add(m.Role, &m.Parts[j])
		}
	}
	return s
}

// Size returns the bytes of messages.
func Size(messages []model.Message) int64 {
	s := Measure(messages)
	return s.Total()
}

// PartSize returns the bytes of a part of a message.
func PartSize(role model.Role, p *model.Part) int64 {
	var s Sizes
	s.add(role, p)
	return s.Total()
}

func (s *Sizes) add(role model.Role, p *model.Part) {
	size := int64(max(len(p.Text), len(p.Raw)) + partSize)
	switch {
	case p.Call != nil:
		s.Calls += max(size, int64(len(p.Call.Name)+len(p.Call.Input)+partSize))
	case p.Result != nil:
		s.Results += size + int64(len(p.Result.Text))
		for i := range p.Result.Files {
			s.Results += fileSize(&p.Result.Files[i])
		}
	case p.File != nil:
		s.Files += size + fileSize(p.File)
	case role == model.User:
		s.User += size
	case p.Type == model.Text:
		s.Answers += size
	default:
		s.Reasoning += size
	}
}

func fileSize(f *model.File) int64 {
	if f.IsImage() {
		return imageSize
	}
	return int64(len(f.Text)) + (max(int64(len(f.Data)), f.Bytes)+2)/3*4
}
