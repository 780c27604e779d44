package protocol

import "testing"

func TestAPageIsHTTPSOrOnThisMachineWithItsHostInASCII(t *testing.T) {
	for _, c := range []struct{ url, want, host, public string }{
		{"https://example.org/a?code=1#x", "https://example.org/a?code=1#x", "example.org", "https://example.org/a"},
		{"HTTPS://Example.ORG:8443", "https://example.org:8443", "example.org:8443", ""},
		{"http://localhost:3000/cb", "http://localhost:3000/cb", "localhost:3000", ""},
		{"http://127.0.0.1/", "http://127.0.0.1/", "127.0.0.1", ""},
		{"http://[::1]:80/", "http://[::1]:80/", "[::1]:80", ""},
		{
			"https://bücher.example/ü?q=ü x", "https://xn--bcher-kva.example/%C3%BC?q=%C3%BC%20x",
			"xn--bcher-kva.example", "https://xn--bcher-kva.example/%C3%BC",
		},
		{"https://аррӏе.com", "https://xn--80ak6aa92e.com", "xn--80ak6aa92e.com", ""},
		{
			"https://他们为什么不说中文.test", "https://xn--ihqwcrb4cv8a8dqg056pqjye.test",
			"xn--ihqwcrb4cv8a8dqg056pqjye.test", "",
		},
		{"https://ليهمابتكلموشعربي؟.test", "", "", ""},
		{
			"https://MajiでKoiする5秒前.test", "https://xn--majikoi5-783gue6qz075azm5e.test",
			"xn--majikoi5-783gue6qz075azm5e.test", "",
		},
		{"https://ex%61mple.org/", "", "", ""},
		{"http://example.org", "", "", ""},
		{"http://localhost.example.org", "", "", ""},
		{"http://10.0.0.1/", "", "", ""},
		{"https://google.com@example.org/", "", "", ""},
		{"https://exa\u200bmple.org/", "", "", ""},
		{"https://example。org/", "", "", ""},
		{"https://example..org/", "", "", ""},
		{"https:example.org", "", "", ""},
		{"https:///x", "", "", ""},
		{"javascript:alert(1)", "", "", ""},
		{"file:///etc/passwd", "", "", ""},
		{"", "", "", ""},
	} {
		p, err := ParsePage(c.url)
		if c.want == "" {
			if err == nil {
				t.Errorf("%q: accepted as %+v", c.url, p)
			}
			continue
		}
		if err != nil || p.URL != c.want || p.Host != c.host || p.Hidden {
			t.Errorf("%q: %+v, %v", c.url, p, err)
			continue
		}
		public := p.Public()
		if c.public == "" && *public != *p || c.public != "" && *public != (Page{c.public, c.host, true}) {
			t.Errorf("%q: public %+v", c.url, public)
		}
	}
}

func FuzzParsePage(f *testing.F) {
	f.Add("https://bücher.example/ü?q=ü x#é")
	f.Add("http://[::1%25x]:99999/\x00")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePage(text)
		if err != nil {
			return
		}
		for i := range len(p.URL) {
			if c := p.URL[i]; c <= ' ' || c >= 0x7f {
				t.Fatalf("%q has the byte %#x", p.URL, c)
			}
		}
		again, err := ParsePage(p.URL)
		if err != nil || *again != *p {
			t.Errorf("%q: %+v, then %+v, %v", text, p, again, err)
		}
	})
}
