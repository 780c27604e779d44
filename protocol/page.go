package protocol

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// A Page is a web page that an agent asks a user to open. In events its URL has no query and no
// fragment, which may hold a credential. The command approval.page returns all of it.
type Page struct {
	URL    string `json:"url"`              // in ASCII
	Host   string `json:"host"`             // of the URL, with its port if it has one
	Hidden bool   `json:"hidden,omitempty"` // a query or a fragment is left out of the URL
}

// OpenPageData names the request. An empty Request means the only pending one.
type OpenPageData struct {
	Request string `json:"request,omitempty"`
}

// OpenPageResult holds the whole URL of the page.
type OpenPageResult struct {
	Request string `json:"request"`
	PageURL string `json:"page_url"`
}

// maxPageURL bounds the URL of a page, in bytes.
const maxPageURL = 8 << 10

// ParsePage returns the page of a URL with its query: https, or http on this machine. A URL with a
// user is refused: the user is easily taken for the host.
func ParsePage(text string) (*Page, error) {
	if len(text) > maxPageURL {
		return nil, errors.New("the URL is too long")
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Opaque != "" || u.Hostname() == "":
		return nil, errors.New("the URL has no host")
	case u.User != nil:
		return nil, errors.New("the URL has a user")
	}
	name, loopback, err := asciiHost(u.Hostname())
	switch {
	case err != nil:
		return nil, err
	case u.Scheme != "https" && (u.Scheme != "http" || !loopback):
		return nil, errors.New("the URL is neither https nor on this machine")
	}
	port := u.Port()
	if u.Host = name; port != "" {
		u.Host += ":" + port
	}
	u.RawQuery = escapeQuery(u.RawQuery)
	return &Page{URL: u.String(), Host: u.Host}, nil
}

// Public returns the page without its query and fragment.
func (p *Page) Public() *Page {
	at := strings.IndexAny(p.URL, "?#")
	if at < 0 {
		return p
	}
	return &Page{URL: p.URL[:at], Host: p.Host, Hidden: true}
}

// Prompt returns what the page asks for, for clients that know texts alone.
func (p *Page) Prompt() string {
	text := "Open " + p.URL
	if p.Hidden {
		text += " (its query is shown by agentctl approve)"
	}
	return text
}

// asciiHost returns the name of a host in ASCII, and whether it is this machine.
func asciiHost(name string) (ascii string, loopback bool, err error) {
	if ip, err := netip.ParseAddr(name); err == nil && ip.Zone() == "" {
		if ip.Is6() {
			name = "[" + ip.String() + "]"
		}
		return name, ip.IsLoopback(), nil
	}
	labels := strings.Split(strings.ToLower(name), ".")
	for i, label := range labels {
		if labels[i], err = asciiLabel(label); err != nil {
			return "", false, fmt.Errorf("the host %.80q is invalid", name)
		}
	}
	name = strings.Join(labels, ".")
	return name, name == "localhost", nil
}

// escapeQuery escapes the bytes of a query that are no part of a URL.
func escapeQuery(query string) string {
	var b strings.Builder
	for i := range len(query) {
		if c := query[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
