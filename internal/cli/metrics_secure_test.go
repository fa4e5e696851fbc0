package cli

import (
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// reviews answers who has a token, which is its own name, and that a reader may get anything.
func (a *apiServer) reviews(mux *http.ServeMux) {
	mux.HandleFunc("POST /apis/authentication.k8s.io/v1/tokenreviews", func(w http.ResponseWriter, r *http.Request) {
		var review authenticationv1.TokenReview
		decodeInto(r, &review)
		review.Status = authenticationv1.TokenReviewStatus{Authenticated: review.Spec.Token != "stranger", User: authenticationv1.UserInfo{Username: review.Spec.Token}}
		answerJSON(w, http.StatusCreated, review)
	})
	mux.HandleFunc("POST /apis/authorization.k8s.io/v1/subjectaccessreviews", func(w http.ResponseWriter, r *http.Request) {
		var review authorizationv1.SubjectAccessReview
		decodeInto(r, &review)
		review.Status.Allowed = review.Spec.User == "reader"
		answerJSON(w, http.StatusCreated, review)
	})
}

// decodeInto reads what a client has sent, which may be protobuf.
func decodeInto(r *http.Request, into runtime.Object) {
	body, _ := io.ReadAll(r.Body)
	_, _, _ = scheme.Codecs.UniversalDeserializer().Decode(body, nil, into)
}

// TestSecureHandler holds that each path is protected as itself.
func TestSecureHandler(t *testing.T) {
	t.Parallel()
	var protected []string
	handler := metricsHandler(func(path string, handler http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			protected = append(protected, path)
			handler.ServeHTTP(w, r)
		})
	}, http.NotFoundHandler(), http.NotFoundHandler(), true)
	for _, path := range []string{"/metrics", "/explain", "/debug/pprof/heap", "//metrics", "/other", "/metrics/", "/explain/../metrics", "/debug"} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		handler.ServeHTTP(httptest.NewRecorder(), request)
	}
	if diff := cmp.Diff([]string{"/metrics", "/explain", "/debug/pprof"}, protected); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestMetricsSecure holds that a process lets in who may, and that explain has what it takes.
func TestMetricsSecure(t *testing.T) {
	api := newAPIServer(t)
	r := start(t, "-f", ruleFile(t, colors("blue")), "--kubeconfig", api.kubeconfig(), "--metrics-secure", "--metrics-bind-address=:0", "--profiling")
	r.ready()
	r.says("what=metrics")
	address := regexp.MustCompile(`what=metrics address=\S*:(\d+)`).FindStringSubmatch(r.stderr.String())[1]
	folder := t.TempDir()
	file := func(name, text string) string {
		at := filepath.Join(folder, name)
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return at
	}
	lasting := file("rules.yaml", lastingRules)
	pod := file("pod.yaml", "{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: shop}, spec: {containers: [{name: c, image: i}]}}")
	reader, insecure := file("reader", "reader\n"), "--controller-insecure"
	https := "https://127.0.0.1:" + address
	for name, tc := range map[string]struct {
		reason string
		args   []string
		code   int
		want   string
	}{
		"reader":     {"It may.", []string{https, insecure, "--controller-token-file", reader}, exitClean, "the controller"},
		"other":      {"It lacks the right.", []string{https, insecure, "--controller-token-file", file("eve", "eve")}, exitInternal, "dyncontroller-explain-reader"},
		"stranger":   {"Nobody knows it.", []string{https, insecure, "--controller-token-file", file("stranger", "stranger")}, exitInternal, "it wants to know who asks"},
		"no token":   {"It says what is missing.", []string{https, insecure}, exitInternal, "--controller-token-file"},
		"unverified": {"A token is not given to anybody.", []string{https, "--controller-token-file", reader}, exitInternal, "--controller-ca-file"},
		"plain":      {"Nor sent for all to read.", []string{"127.0.0.1:" + address, "--controller-token-file", reader}, exitUsage, "want https://"},
		"not plain":  {"The server speaks TLS alone.", []string{"127.0.0.1:" + address}, exitInternal, "https://"},
		"both":       {"One makes the other useless.", []string{https, insecure, "--controller-ca-file", reader}, exitUsage, "leave out --controller-ca-file"},
		"no ca":      {"It has no certificate in it.", []string{https, "--controller-ca-file", reader}, exitUsage, "--controller-ca-file"},
		"no file":    {"It is not there.", []string{https, "--controller-token-file", folder + "/none"}, exitUsage, "--controller-token-file"},
		"two words":  {"It is something else.", []string{https, "--controller-token-file", file("words", "secret-a secret-b")}, exitUsage, "want one token"},
		"password":   {"It would be shown.", []string{"https://ann:secret-c@127.0.0.1:" + address}, exitUsage, "want an address"},
		"scheme":     {"It is no web address.", []string{"ftp://127.0.0.1:1"}, exitUsage, "want an address"},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"explain", "lasting", "--rules", lasting, "--object", pod, "--controller"}, tc.args...)
			code, stdout, stderr := invoke(t, args...)
			if code != tc.code || !strings.Contains(stdout+stderr, tc.want) {
				t.Errorf("%s it ends with %d, want %d and %q:\n%s%s", tc.reason, code, tc.code, tc.want, stdout, stderr)
			}
			if strings.Contains(stderr, "secret-") {
				t.Errorf("%s the token is told: %s", tc.reason, stderr)
			}
		})
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for token, want := range map[string]int{"reader": http.StatusOK, "eve": http.StatusForbidden, "stranger": http.StatusUnauthorized, "": http.StatusUnauthorized} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, https+"/debug/pprof/goroutine?debug=1", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+token)
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode != want || answer.Body.Close() != nil {
			t.Errorf("profiles for %q: %d, want %d", token, answer.StatusCode, want)
		}
	}
	r.finish()
}

// TestExplainVerifies holds that an authority is enough, that the token goes to who is verified,
// and not to where they send it on.
func TestExplainVerifies(t *testing.T) {
	folder := t.TempDir()
	var elsewhere int
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	defer other.Close()
	sendOn, shown := false, ""
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown = r.Header.Get("Authorization")
		if sendOn {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
			return
		}
		_ = json.NewEncoder(w).Encode(trace.Memory{})
	}))
	defer server.Close()
	for name, text := range map[string]string{
		"ca": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})), "token": "t",
		"rules": lastingRules, "pod": "{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: shop}, spec: {containers: [{name: c, image: i}]}}",
	} {
		if err := os.WriteFile(filepath.Join(folder, name+".yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(folder, name+".yaml") }
	for _, sendOn = range []bool{false, true} {
		shown = ""
		code, stdout, stderr := invoke(t, "explain", "lasting", "--rules", at("rules"), "--object", at("pod"),
			"--controller", server.URL, "--controller-ca-file", at("ca"), "--controller-token-file", at("token"))
		if (code == exitClean) == sendOn || shown != "Bearer t" {
			t.Errorf("sent on is %t: it ends with %d, and shows %q:\n%s%s", sendOn, code, shown, stdout, stderr)
		}
	}
	if elsewhere > 0 {
		t.Error("it goes where it is sent")
	}
}

// TestExplainControllerFlags holds that flags which would do nothing are refused.
func TestExplainControllerFlags(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--controller-token-file", "t"}, {"--controller-ca-file", "c"}, {"--controller-insecure"}} {
		code, _, stderr := invoke(t, append([]string{"explain", "r", "pods/a", "--rules", "r.yaml"}, args...)...)
		if code != exitUsage || !strings.Contains(stderr, "go with --controller") {
			t.Errorf("%q: have %d, %s", args, code, stderr)
		}
	}
}

// TestMetricsCertDir holds that a process does not start without the certificate it was given.
func TestMetricsCertDir(t *testing.T) {
	api := newAPIServer(t)
	folder := t.TempDir()
	code, _, stderr := invoke(t, "run", "-f", ruleFile(t, colors("blue")), "--kubeconfig", api.kubeconfig(),
		"--metrics-bind-address=127.0.0.1:0", "--health-probe-bind-address=0", "--metrics-secure", "--metrics-cert-dir", folder)
	if code != exitInternal || !strings.Contains(stderr, filepath.Join(folder, "tls.crt")) || strings.Contains(stderr, "another address") {
		t.Errorf("have %d, %s", code, stderr)
	}
}
