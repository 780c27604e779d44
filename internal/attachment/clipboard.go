package attachment

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// Errors of Clipboard.Image.
var (
	ErrNoImage            = errors.New("no image in the clipboard")
	errNoClipboardCommand = errors.New(
		"cannot read the clipboard here: it needs wl-paste or xclip and a display; paste the path of a file instead",
	)
)

// maxClipboard bounds an image in the clipboard, in bytes.
const maxClipboard = 32 << 20

// Clipboard is the clipboard of this machine. Terminals do not send images, so commands read it.
type Clipboard struct {
	Env   map[string]string
	Files bool // an image that no message can hold is written to a file: the agent can read it
}

// A clipboardCommand prints an image, encoded in its way.
type clipboardCommand struct {
	words  []string
	decode func([]byte) ([]byte, error)
}

// command returns the command for this system. ok is false if the system has no command.
func (c *Clipboard) command() (_ clipboardCommand, ok bool) {
	plain := func(b []byte) ([]byte, error) { return b, nil }
	var list []clipboardCommand
	switch runtime.GOOS {
	case "darwin":
		list = append(list, clipboardCommand{[]string{"osascript", "-e", "the clipboard as «class PNGf»"}, appleData})
	case "windows":
		script := "Add-Type -AssemblyName System.Windows.Forms,System.Drawing; " +
			"$i = [Windows.Forms.Clipboard]::GetImage(); if ($i) { $m = New-Object IO.MemoryStream; " +
			"$i.Save($m, [Drawing.Imaging.ImageFormat]::Png); [Convert]::ToBase64String($m.ToArray()) }"
		list = append(list, clipboardCommand{
			[]string{"powershell", "-NoProfile", "-Sta", "-Command", script}, base64Text,
		})
	default:
		if c.Env["WAYLAND_DISPLAY"] != "" {
			list = append(list, clipboardCommand{[]string{"wl-paste", "--no-newline", "--type", "image/png"}, plain})
		}
		if c.Env["DISPLAY"] != "" {
			list = append(list, clipboardCommand{
				[]string{"xclip", "-selection", "clipboard", "-t", "image/png", "-o"}, plain,
			})
		}
	}
	for _, command := range list {
		if _, err := exec.LookPath(command.words[0]); err == nil {
			return command, true
		}
	}
	return clipboardCommand{}, false
}

// Image returns the image in the clipboard.
func (c *Clipboard) Image(ctx context.Context) (File, error) {
	command, ok := c.command()
	if !ok {
		return File{}, errNoClipboardCommand
	}
	cmd := exec.CommandContext(ctx, command.words[0], command.words[1:]...)
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return File{}, ctx.Err()
	}
	if err != nil || len(out) == 0 { // the commands fail without an image
		return File{}, ErrNoImage
	}
	data, err := command.decode(out)
	if err != nil || !strings.HasPrefix(http.DetectContentType(data), "image/") {
		return File{}, ErrNoImage
	}
	if len(data) > maxClipboard {
		return File{}, fmt.Errorf("the image in the clipboard is too large: %d bytes", len(data))
	}
	f := File{Name: "clipboard.png", MediaType: mediaType("", data), Size: int64(len(data)), data: data}
	if base64.StdEncoding.EncodedLen(len(data)) <= maxMessage {
		return f, nil
	}
	if scaled, ok := f.scaledDown(maxMessage); ok {
		return scaled, nil
	}
	if c.Files {
		f.path, err = writeTemporary(data)
	}
	return f, err
}

// writeTemporary writes a file that only the user can read, and returns its name. It stays for the
// agent, which may read it later.
func writeTemporary(data []byte) (string, error) {
	f, err := os.CreateTemp("", "agentctl-clipboard-*.png") // mode 0600
	if err != nil {
		return "", fmt.Errorf("clipboard: %w", err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("clipboard: %w", err), os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// appleData decodes the data that osascript prints: «data PNGf89504E47…».
func appleData(out []byte) ([]byte, error) {
	text := string(bytes.TrimSpace(out))
	text = strings.TrimSuffix(strings.TrimPrefix(text, "«data PNGf"), "»")
	return hex.DecodeString(text)
}

// base64Text decodes base64 with white space around it.
func base64Text(out []byte) ([]byte, error) {
	return base64.StdEncoding.DecodeString(string(bytes.TrimSpace(out)))
}
