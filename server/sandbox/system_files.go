package sandbox

import (
	"os"
	"path/filepath"
	"strings"
)

// sshConfig is the configuration of ssh for all users.
const sshConfig = "/etc/ssh/ssh_config"

// systemFiles returns copies, by path, of files that programs accept of root and of their own user alone: in
// a sandbox of another user, root is nobody. ssh checks the files that its configuration includes.
func (h *Host) systemFiles() map[string]string {
	h.copiesOnce.Do(func() {
		h.copies = map[string]string{}
		if os.Getuid() != 0 {
			h.copyIncluded(sshConfig)
		}
	})
	return h.copies
}

// copyIncluded copies the files that a configuration of ssh includes, and those that they include.
func (h *Host) copyIncluded(file string) {
	b, err := os.ReadFile(file)
	if err != nil {
		return
	}
	for line := range strings.Lines(string(b)) {
		words := strings.Fields(line)
		if len(words) < 2 || !strings.EqualFold(words[0], "include") {
			continue
		}
		for _, pattern := range words[1:] {
			if pattern = strings.Trim(pattern, `"`); !filepath.IsAbs(pattern) {
				pattern = filepath.Join(filepath.Dir(sshConfig), pattern)
			}
			found, _ := filepath.Glob(pattern)
			for _, path := range found {
				h.copyFile(path)
			}
		}
	}
}

func (h *Host) copyFile(path string) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || h.copies[real] != "" {
		return
	}
	content, err := os.ReadFile(real)
	if err != nil {
		return
	}
	copied := filepath.Join(h.options.Dir, strings.ReplaceAll(real, string(filepath.Separator), "_"))
	if os.MkdirAll(h.options.Dir, 0o700) != nil || os.WriteFile(copied, content, 0o600) != nil {
		return
	}
	h.copies[real] = copied
	h.copyIncluded(real)
}
