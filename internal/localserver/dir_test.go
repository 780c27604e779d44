//go:build unix

package localserver

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"agentctl/internal/exit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheDataDirectoryIsFoundAsTheEnvironmentSays(t *testing.T) {
	tests := []struct {
		name, data string
		env        map[string]string
		want       string
	}{
		{"named", "/named", map[string]string{"XDG_DATA_HOME": "/xdg"}, "/named"},
		{"the desktop's", "", map[string]string{"XDG_DATA_HOME": "/xdg", "HOME": "/home"}, "/xdg/agentctl"},
		{
			"a relative one does not count", "",
			map[string]string{"XDG_DATA_HOME": "xdg", "HOME": "/home"},
			"/home/.local/share/agentctl",
		},
		{"the user's", "", map[string]string{"HOME": "/home"}, "/home/.local/share/agentctl"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env := func(k string) string { return tt.env[k] }
			if got, err := FindDir(env, tt.data); err != nil || string(got) != tt.want {
				t.Errorf("%s, %v; want %s", got, err, tt.want)
			}
		})
	}
}

func TestTheTokenIsMadeOnceAndIsPrivate(t *testing.T) {
	d := Dir(t.TempDir())
	first, err := d.Token()
	if err != nil || len(first) < 32 {
		t.Fatalf("%q, %v", first, err)
	}
	if err := os.Chmod(d.Path("token"), 0o644); err != nil {
		t.Fatal(err)
	}
	again, err := d.Token()
	if err != nil || again != first {
		t.Errorf("%q then %q, %v", first, again, err)
	}
	info, err := os.Stat(d.Path("token"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if names, _ := filepath.Glob(d.Path(".*")); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}

func TestTheSocketGoesWhereItsPathFits(t *testing.T) {
	short, run := Dir(t.TempDir()), t.TempDir()
	if err := os.Chmod(run, 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := short.PlaceSocket(run); err != nil || got != short.Path("agentctl.sock") || got != short.Socket() {
		t.Errorf("%s, %v", got, err)
	}
	long := Dir(filepath.Join(t.TempDir(), strings.Repeat("long/", 20)))
	if err := long.Create(); err != nil {
		t.Fatal(err)
	}
	got, err := long.PlaceSocket(run)
	if err != nil || filepath.Dir(got) != run || got != long.Socket() {
		t.Errorf("%s, %v; clients use %s", got, err, long.Socket())
	}
	other := Dir(string(long) + "er")
	if err := other.Create(); err != nil {
		t.Fatal(err)
	}
	if second, err := other.PlaceSocket(run); err != nil || second == got {
		t.Errorf("two directories share %s, %v", second, err)
	}
	if err := os.Chmod(run, 0o750); err != nil {
		t.Fatal(err)
	}
	if _, err := long.PlaceSocket(run); err == nil || !strings.Contains(err.Error(), "closed to others") {
		t.Errorf("a directory open to others: %v", err)
	}
}

func TestADirectoryThatEverybodyUsesIsRefused(t *testing.T) {
	d := Dir(t.TempDir())
	for mode, taken := range map[os.FileMode]bool{
		0o755: true, 0o700: true, 0o777: false,
		0o777 | os.ModeSticky: false,
	} {
		if err := os.Chmod(string(d), mode); err != nil {
			t.Fatal(err)
		}
		err := d.Create()
		info, statErr := os.Stat(string(d))
		if statErr != nil {
			t.Fatal(statErr)
		}
		if private := info.Mode().Perm() == 0o700; private != taken || (err == nil) != taken {
			t.Errorf("%o becomes %o, %v", mode, info.Mode(), err)
		}
	}
}

// A file with a credential has a bounded length, is text in one line and belongs to this user.
func TestFilesOfCredentialsAreChecked(t *testing.T) {
	good := strings.Repeat("x", 32)
	for name, read := range map[string]func(Dir) error{
		"token":  func(d Dir) error { _, err := d.Token(); return err },
		"secret": func(d Dir) error { _, err := d.Secret("secret"); return err },
		"key":    func(d Dir) error { _, err := d.Keys(); return err },
	} {
		for content, ok := range map[string]bool{
			good: true, good + "\n": true, "": false, "\n": false, good[1:]: false,
			good + "\n" + good: false, good + "\x00": false, good + "é": false,
			strings.Repeat("x", maxKeyFile+1): false, `{"keys":[]}` + good: false,
		} {
			if name != "key" && content[:min(len(content), 1)] == "{" {
				continue
			}
			d := Dir(t.TempDir())
			if err := os.WriteFile(d.Path(name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := read(d); (err == nil) != ok {
				t.Errorf("%s %.40q: %v", name, content, err)
			}
			if b, err := os.ReadFile(d.Path(name)); err != nil || string(b) != content {
				t.Errorf("%s %.40q was changed: %v", name, content, err)
			}
		}
		d := Dir(t.TempDir())
		if err := os.Mkdir(d.Path(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := read(d); err == nil {
			t.Errorf("%s: a directory is read", name)
		}
	}
}

// A directory and a file of another user are refused. Only root can make them.
func TestWhatBelongsToAnotherUserIsRefused(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a file to another user")
	}
	d := Dir(t.TempDir())
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	const other = 65534
	if err := os.Chown(d.Path("token"), other, other); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Token(); err == nil || !strings.Contains(err.Error(), "another user") {
		t.Errorf("token: %v", err)
	}
	if err := os.Chown(string(d), other, other); err != nil {
		t.Fatal(err)
	}
	if err := d.Create(); err == nil || !strings.Contains(err.Error(), "another user") {
		t.Errorf("directory: %v", err)
	}
}

// Records of credentials are listed until they expire, and can be revoked.
func TestCredentialsAreRecordedUntilTheyExpire(t *testing.T) {
	d, now := Dir(t.TempDir()), time.Now().UTC()
	if list, err := d.Tokens(); err != nil || list != nil {
		t.Errorf("%v, %v", list, err)
	}
	for id, ttl := range map[string]time.Duration{"t_1": time.Hour, "t_2": 2 * time.Hour, "t_old": -time.Second} {
		if err := d.SaveToken(TokenRecord{ID: id, Created: now.Add(ttl), Expires: now.Add(ttl)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.RevokeToken("t_1"); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"t_old", "../key", ""} {
		if err := d.RevokeToken(id); !errors.Is(err, ErrNoToken) {
			t.Errorf("%q: %v", id, err)
		}
	}
	list, err := d.Tokens()
	if err != nil || len(list) != 2 || list[0].ID != "t_1" || list[0].Revoked == nil || list[1].Revoked != nil {
		t.Errorf("%+v, %v", list, err)
	}
	if revoked, _, err := d.RevokedTokens(); err != nil || !revoked["t_1"] || revoked["t_2"] {
		t.Errorf("%v, %v", revoked, err)
	}
}

// A record that was not written to its end does not lock others out. Its credential is refused: it
// may have been revoked.
func TestATornRecordRefusesItsCredentialAlone(t *testing.T) {
	d, now := Dir(t.TempDir()), time.Now().UTC()
	if err := d.SaveToken(TokenRecord{ID: "t_good", Created: now, Expires: now.Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"", `{"id":"t_torn","expi`, `{"id":"t_other"}`} {
		if err := os.WriteFile(d.tokenPath("t_torn"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		revoked, problems, err := d.RevokedTokens()
		if err != nil || !revoked["t_torn"] || revoked["t_good"] || len(problems) != 1 ||
			!strings.Contains(problems[0], d.tokenPath("t_torn")) {
			t.Errorf("%q: %v, %q, %v", content, revoked, problems, err)
		}
		if _, err := d.Authenticator(nil); err != nil {
			t.Errorf("%q: %v", content, err)
		}
	}
	if err := d.RevokeToken("t_torn"); err != nil {
		t.Fatal(err)
	}
	if revoked, problems, err := d.RevokedTokens(); err != nil || !revoked["t_torn"] || problems != nil {
		t.Errorf("after the revocation: %v, %q, %v", revoked, problems, err)
	}
}

// All first users of a secret get the same one.
func TestFirstUsersOfASecretGetTheSame(t *testing.T) {
	for range 20 {
		d := Dir(t.TempDir())
		var values [8]string
		var users sync.WaitGroup
		for i := range values {
			users.Go(func() {
				var err error
				if values[i], err = d.Secret("key"); err != nil {
					t.Error(err)
				}
			})
		}
		users.Wait()
		for _, v := range values {
			if v != values[0] {
				t.Fatalf("%q", values)
			}
		}
	}
}

// Who is told to remove a file is told what is lost with it.
func TestADamagedFileSaysWhatIsLostWithIt(t *testing.T) {
	for name, lost := range lostWith {
		d := Dir(t.TempDir())
		if err := os.WriteFile(d.Path(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := d.Secret(name)
		if hint := exit.From(err).Hint; !strings.Contains(hint, lost) || !strings.Contains(err.Error(), d.Path(name)) {
			t.Errorf("%v: hint %q, want %q", err, hint, lost)
		}
	}
}

// A certificate is made once, is private and can be replaced while it is used.
func TestACertificateIsMadeOnceAndReadAgain(t *testing.T) {
	d := Dir(t.TempDir())
	first, err := d.Certificate([]string{"box.example"})
	if err != nil {
		t.Fatal(err)
	}
	again, err := d.Certificate(nil)
	if err != nil || again.Fingerprint() != first.Fingerprint() || !slices.Contains(again.Names(), "box.example") {
		t.Fatalf("%v, %v", again, err)
	}
	old := first.Fingerprint()
	if err := os.WriteFile(d.Path("tls.crt"), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := first.Reload(); err == nil || first.Fingerprint() != old {
		t.Errorf("after a damaged file: %v", err)
	}
	if err := os.Remove(d.Path("tls.key")); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Certificate(nil); err != nil {
		t.Fatal(err)
	}
	if err := first.Reload(); err != nil || first.Fingerprint() == old {
		t.Errorf("after a new certificate: %v", err)
	}
	served, err := first.TLS().GetCertificate(nil)
	if err != nil || Fingerprint(served.Leaf) != first.Fingerprint() {
		t.Errorf("listeners have another: %v", err)
	}
	if err := os.Chmod(d.Path("tls.key"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := first.Reload(); err == nil || !strings.Contains(err.Error(), "chmod") {
		t.Errorf("a key that others can read: %v", err)
	}
}
