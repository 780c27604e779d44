package acp

import (
	"encoding/json"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent/acp/unidiff"
)

// A diffV2 is a change of files: what happens to each, and perhaps a patch with the lines.
type diffV2 struct {
	Changes []fileChangeV2 `json:"changes"`
	Patch   struct {
		Format string `json:"format"`
		Text   string `json:"text"`
	} `json:"patch"`
}

type fileChangeV2 struct {
	Operation string `json:"operation"`
	Path      string `json:"path"`
	OldPath   string `json:"oldPath"`
}

// A diffV1 is a change of a file, or of a part of it, in the form of version 1.
type diffV1 struct {
	Type string  `json:"type"`
	Path string  `json:"path"`
	Old  *string `json:"oldText"`
	New  string  `json:"newText"`
}

// An unreadDiffV2 holds a diff as it was sent. It is no diff of version 1, and is shown as JSON.
type unreadDiffV2 struct {
	Type string          `json:"type"`
	Diff json.RawMessage `json:"diff"`
}

// convertContentV2 converts the content of a call to the form of version 1. A diff whose patch cannot
// be read exactly is shown as it was sent. A change that removes or moves a file makes
// the call one of that kind: no rule allows it.
func convertContentV2(c *toolCall) {
	var items, out []json.RawMessage
	if decode(c.Content, &items) != nil || items == nil {
		return
	}
	for _, item := range items {
		var d struct {
			typedV2
			diffV2
		}
		if decode(item, &d) != nil || d.Type != contentDiff {
			out = append(out, item)
			continue
		}
		parts, ok := d.split()
		if !ok {
			parts = []json.RawMessage{protocol.MustEncode(unreadDiffV2{"changes", item})}
		}
		out = append(out, parts...)
		for _, f := range d.Changes {
			for _, path := range []string{f.OldPath, f.Path} {
				if path != "" && !ok {
					c.Locations = append(c.Locations, toolLocation{Path: path})
				}
			}
			switch f.Operation {
			case "add", "modify":
			case "delete":
				c.ToolKind = protocol.ToolDelete
			default:
				c.ToolKind = protocol.ToolMove
			}
		}
	}
	c.Content = protocol.MustEncode(out)
}

// split returns the hunks of the patch as separate diffs. ok is false if the patch has anything else
// than the changes.
func (d *diffV2) split() (parts []json.RawMessage, ok bool) {
	patches := unidiff.Split(d.Patch.Text)
	if d.Patch.Format != "git_patch" || len(d.Changes) == 0 || len(patches) != len(d.Changes) {
		return nil, false
	}
	for i, f := range d.Changes {
		file := unidiff.File{Path: f.Path, Added: f.Operation == "add", Removed: f.Operation == "delete"}
		hunks, ok := unidiff.Parse(patches[i], file)
		if !ok || len(hunks) == 0 && !file.Added || f.OldPath != "" {
			return nil, false
		}
		if len(hunks) == 0 {
			hunks = make([]unidiff.Hunk, 1)
		}
		for _, h := range hunks {
			part := diffV1{Type: contentDiff, Path: f.Path, New: strings.Join(h.After, "")}
			if !file.Added {
				old := strings.Join(h.Before, "")
				part.Old = &old
			}
			parts = append(parts, protocol.MustEncode(part))
		}
	}
	return parts, true
}
