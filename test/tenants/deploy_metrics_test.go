package tenants

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// scraped holds that the metrics of a replica are for who may get them, and for nobody else:
// Prometheus with what deploy/monitoring gives it, and whoever has the ClusterRole of deploy/base.
func scraped(t *testing.T, on *plane, p *process) {
	t.Helper()
	kubectl(t, on, "apply", "-f", "../../deploy/monitoring/scraper.yaml")
	for _, name := range []string{"reader", "other"} {
		kubectl(t, on, "create", "serviceaccount", name, "-n", system)
	}
	for _, what := range []string{"metrics", "explain"} {
		kubectl(t, on, "create", "clusterrolebinding", what+"-reader", "--clusterrole=dyncontroller-"+what+"-reader", "--serviceaccount="+system+":reader")
	}
	kubectl(t, on, "create", "clusterrolebinding", "other", "--clusterrole=view", "--serviceaccount="+system+":other")
	token := func(account string) string {
		return strings.TrimSpace(kubectl(t, on, "create", "token", account, "-n", system))
	}
	port := listens(t, p, "metrics")
	explain := "/explain?version=v1&resource=pods&namespace=" + system + "&name=a"
	reader, other, scraper := token("reader"), token("other"), scraperToken(t, on)
	for _, tc := range []struct {
		reason, token, path string
		code                int
		body                string
	}{
		{"The ClusterRoles let it read.", reader, "/metrics", http.StatusOK, "dyncontroller_build_info{"},
		{"And ask what is remembered.", reader, explain, http.StatusOK, `"records"`},
		{"Prometheus reads.", scraper, "/metrics", http.StatusOK, "dyncontroller_build_info{"},
		{"It asks nothing else.", scraper, explain, http.StatusForbidden, ""},
		{"Who may view all else may not.", other, "/metrics", http.StatusForbidden, ""},
		{"Nor ask.", other, explain, http.StatusForbidden, ""},
		{"This is no token.", "x", "/metrics", http.StatusUnauthorized, ""},
		{"There is none.", "", "/metrics", http.StatusUnauthorized, ""},
	} {
		code, body := secretly(t, "https://127.0.0.1:"+port+tc.path, tc.token)
		if code != tc.code || !strings.Contains(body, tc.body) || code != http.StatusOK && strings.Contains(body, "dyncontroller_") {
			t.Errorf("%s %s: want %d, have %d: %.200s", tc.reason, tc.path, tc.code, code, body)
		}
	}
	for _, secret := range []string{reader, other, scraper} {
		if strings.Contains(p.output.String(), secret) {
			t.Error("a token is in the log")
		}
	}
}

// scraperToken is what the PodMonitor has Prometheus show.
func scraperToken(t *testing.T, on *plane) (token string) {
	t.Helper()
	eventually(t, "the Secret of the scraper has a token", func() bool {
		said := kubectl(t, on, "get", "secret", "dyncontroller-scraper", "-n", system, "-o", "go-template={{with .data}}{{with .token}}{{. | base64decode}}{{end}}{{end}}")
		token = strings.TrimSpace(said)
		return token != ""
	})
	return token
}

// listens is the port of a server of a process, by its log.
func listens(t *testing.T, p *process, what string) (port string) {
	t.Helper()
	eventually(t, "it serves "+what, func() bool {
		for line := range strings.Lines(p.output.String()) {
			var entry struct{ What, Address string }
			if json.Unmarshal([]byte(line), &entry) == nil && entry.What == what && entry.Address != "" {
				port = entry.Address[strings.LastIndex(entry.Address, ":")+1:]
			}
		}
		return port != ""
	})
	return port
}

// secretly asks with a token, by TLS.
func secretly(t *testing.T, url, token string) (int, string) {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // It has signed itself.
	return answer(t, &http.Client{Transport: transport}, url, token)
}

// answer is what a process says to a request, with a token if there is one.
func answer(t *testing.T, client *http.Client, url, token string) (code int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	said, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(said)
}
