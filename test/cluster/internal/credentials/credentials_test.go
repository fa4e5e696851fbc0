package credentials

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestServingCertificateIsTrusted(t *testing.T) {
	serving, err := NewServing(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(serving.Certificate, serving.Key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "ok")
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	server.StartTLS()
	defer server.Close()

	other, err := NewServing(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		reason  string
		ca      []byte
		trusted bool
	}{
		"own authority":   {"The kubeconfig's CA must be enough, by address.", serving.CA, true},
		"other authority": {"The CA must be what makes it trusted.", other.CA, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			roots := x509.NewCertPool()
			if !roots.AppendCertsFromPEM(tc.ca) {
				t.Fatal("no certificate in the CA")
			}
			client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			response, err := client.Do(request)
			if (err == nil) != tc.trusted {
				t.Fatalf("%s\nGET %s: %v", tc.reason, server.URL, err)
			}
			if err == nil {
				_ = response.Body.Close()
			}
		})
	}
}

func TestSigningKeyParses(t *testing.T) {
	data, err := NewSigningKey()
	if err != nil {
		t.Fatal(err)
	}
	block, rest := pem.Decode(data)
	if block == nil || len(rest) > 0 {
		t.Fatalf("not one PEM block: %s", data)
	}
	if _, err := x509.ParseECPrivateKey(block.Bytes); err != nil {
		t.Error(err)
	}
}

func TestNewUserTokensDiffer(t *testing.T) {
	if a, b := NewUser("a"), NewUser("a"); a.Token == b.Token || len(a.Token) < 20 {
		t.Errorf("tokens %q and %q can be guessed", a.Token, b.Token)
	}
}

func TestTokenFile(t *testing.T) {
	got := string(TokenFile(
		User{Name: "admin", Groups: []string{"system:masters", "ops"}, Token: "T1"},
		User{Name: "system:kube-controller-manager", Token: "T2"},
	))
	want := "T1,admin,admin,\"system:masters,ops\"\nT2,system:kube-controller-manager,system:kube-controller-manager\n"
	if got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}

func TestKubeconfig(t *testing.T) {
	got := string(Kubeconfig("https://127.0.0.1:6443", []byte("CA"), User{Name: "admin", Token: "T1"}))
	want := strings.TrimPrefix(`
apiVersion: v1
kind: Config
clusters:
- name: cluster
  cluster:
    server: https://127.0.0.1:6443
    certificate-authority-data: Q0E=
users:
- name: admin
  user:
    token: T1
contexts:
- name: cluster
  context: {cluster: cluster, user: admin}
current-context: cluster
`, "\n")
	if got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}
