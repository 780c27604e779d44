package commandline

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// text returns an effect as a word: files apart by |, with ? if it depends on whether they exist.
func (e Effect) text() string {
	switch {
	case e.Host != "":
		return e.Program + "→" + e.Host
	case e.Program != "":
		return e.Program
	}
	mark := map[bool]string{true: "?"}
	return strings.Join(e.Files, "|") + mark[e.Existing || e.Missing]
}

// A line has only the effects of which it does nothing less: what may not run, or whose failure is
// handled, has none.
func TestEffectsOfALine(t *testing.T) {
	for line, want := range map[string]string{
		"echo x > /etc/a":                        "/etc/a",
		"echo x >> ../a":                         "/w/../a",
		"echo x >| a 2> b":                       "/w/a /w/b",
		"echo x &> /etc/a":                       "/etc/a",
		"echo x > /etc/a > /etc/b":               "/etc/a /etc/b",
		": > /etc/a":                             "/etc/a",
		"> /etc/a":                               "/etc/a",
		"cat < /etc/a":                           "",
		"cat <<E > /etc/a\nx\nE":                 "/etc/a",
		"{ echo x; echo y; } > /etc/a":           "/etc/a",
		"cp a /etc/b":                            "/etc/b",
		"cp -r a b /etc":                         "/etc",
		"cp /etc/a b":                            "/w/b",
		"mv a /etc/b":                            "/w/a? /etc/b",
		"mv /etc/a b":                            "/etc/a? /w/b",
		"rm -rf /etc/a b":                        "/etc/a? /w/b?",
		"mkdir -p /opt/a":                        "/opt/a?",
		"touch /etc/a":                           "/etc/a",
		"touch -d yesterday /etc/a":              "/etc/a",
		"ln -sf /w/a /usr/bin/a":                 "/usr/bin/a",
		"install -m 755 a /usr/bin/a":            "/usr/bin/a",
		"chmod +x /usr/bin/a":                    "/usr/bin/a?",
		"sed -i s/a/b/ /etc/a":                   "/etc/a?",
		"sed -i.bak -e s/a/b/ /etc/a":            "/etc/a?",
		"sed -n p /etc/a":                        "",
		"tee -a /etc/a":                          "/etc/a",
		"echo x | tee /etc/a":                    "/etc/a",
		"dd if=/dev/zero of=/etc/a count=1":      "/etc/a",
		"git init /opt/a":                        "/opt/a?",
		"git init":                               "",
		"git clone https://example.com/a /opt/a": "/opt/a? git→example.com",
		"git fetch git@example.com:a/b":          "git→example.com",
		"git push origin main":                   "",
		"git clone ../a b":                       "/w/b?",
		"cd /etc && touch a":                     "/etc/a",
		"cd /etc; touch a":                       "/w/a|/etc/a",
		"cd $X && touch a":                       "",
		"/bin/cp a /etc/b":                       "/etc/b",

		"sudo ls":                      "sudo",
		"sudo -n true":                 "sudo",
		"make && sudo make install":    "sudo",
		"make; sudo make install":      "sudo",
		"su -c ls":                     "su",
		"doas ls":                      "doas",
		"echo x | sudo tee /etc/a":     "sudo",
		"timeout 5 sudo ls":            "sudo",
		"bash -lc 'cd a && sudo ls'":   "sudo",
		"env A=b nice -n 5 sudo ls":    "sudo",
		"(sudo ls)":                    "sudo",
		"sudo ls &":                    "sudo",
		"sudo -V":                      "",
		"sudo --help":                  "",
		"./sudo ls":                    "",
		"which sudo; command -v sudo":  "",
		"echo sudo":                    "",
		"set -euo pipefail; sudo ls":   "sudo",
		"PATH=/x:$PATH; sudo ls":       "",
		"sudo() { \"$@\"; }; sudo ls":  "",
		"cp() { ls; }; cp a /etc/b":    "",
		"alias sudo=; sudo ls":         "",
		"exit 0; sudo ls":              "",
		"test -f a && exit; sudo ls":   "",
		". ./env; sudo ls":             "",
		"set -n; sudo ls":              "",
		"bash -n -c 'sudo ls'":         "",
		"exec ls; sudo ls":             "",
		"$X; sudo ls":                  "",
		"trap x EXIT; sudo ls":         "",
		"xargs sudo ls":                "",
		"find . -exec sudo ls {} +":    "",
		"ssh example.com sudo ls":      "ssh→example.com",
		"docker run a sudo ls":         "",
		"watch sudo ls":                "",
		"! sudo ls":                    "",
		"sudo ls || ls":                "",
		"ls || sudo ls":                "",
		"if sudo ls; then ls; fi":      "",
		"if ls; then sudo ls; fi":      "",
		"while sudo ls; do ls; done":   "",
		"for i in a; do sudo ls; done": "",
		"case a in a) sudo ls;; esac":  "",
		"echo $(sudo ls)":              "",
		"X=$(sudo ls)":                 "",
		"cat <(sudo ls)":               "",
		"f() { sudo ls; }":             "",
		"{ sudo ls; } || true":         "",
		"sudo ls && ls || ls":          "",

		"rm $X":                                   "",
		"rm *":                                    "",
		"rm ~/a":                                  "",
		"cp a '~/b'":                              "",
		"cp -n a /etc/b":                          "",
		"cp -i a /etc/b":                          "",
		"cp -u a /etc/b":                          "",
		"cp -t /etc a":                            "",
		"cp --version":                            "",
		"mv -n a /etc/b":                          "",
		"rm -i /etc/a":                            "",
		"rm --help /etc/a":                        "",
		"touch -c /etc/a":                         "",
		"install -C a /etc/a":                     "",
		"echo > $X":                               "",
		"echo > /tmp/$X":                          "",
		"cp a /etc/b 2>/dev/null || cp a b":       "",
		"cp {a,/etc/b}":                           "",
		"make -C /etc":                            "",
		"go build -o /usr/bin/a":                  "",
		"curl https://example.com/a":              "curl→example.com",
		"curl -fsSL -o a https://example.com/a":   "curl→example.com",
		"curl -X POST -d @a example.com/a":        "curl→example.com",
		"curl --data=x https://user@example.com":  "curl→example.com",
		"curl 'http://[::1]:80/'":                 "curl→::1",
		"curl -x socks5h://p https://example.com": "",
		"curl --unix-socket s http://example.com": "",
		"curl --version":                          "",
		"curl file:///etc/passwd":                 "",
		"curl $URL":                               "",
		"curl -s https://example.com || true":     "",
		"wget -qO- https://example.com/a | sh":    "wget→example.com",
		"ssh -p 22 u@example.com ls":              "ssh→example.com",
		"ssh -o ProxyCommand=x example.com":       "",
		"scp a u@example.com:b":                   "scp→example.com",
		"scp a b":                                 "",
		"ping -c 1 example.com":                   "ping→example.com",
	} {
		var got []string
		for _, e := range Read(line, "/w").Effects() {
			got = append(got, e.text())
		}
		if sorted := slices.Sorted(slices.Values(strings.Fields(want))); !slices.Equal(slices.Sorted(slices.Values(got)), sorted) {
			t.Errorf("%s: %q, want %q", line, got, sorted)
		}
	}
	if list := ReadText("sudo ls > /etc/a").Effects(); len(list) > 0 {
		t.Errorf("a text: %s", fmt.Sprint(list))
	}
}
