package access_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/internal/access"
)

var account = types.NamespacedName{Namespace: "shop", Name: "rules"}

// TestImpersonate holds what an impersonated client sends, and that the configuration
// stays as it was.
func TestImpersonate(t *testing.T) {
	tests := map[string]struct {
		reason  string
		account types.NamespacedName
		before  rest.ImpersonationConfig
		want    http.Header
	}{
		"an account": {
			"Only the name: whoever asks for groups needs the right to.", account,
			rest.ImpersonationConfig{},
			http.Header{"Impersonate-User": {"system:serviceaccount:shop:rules"}},
		},
		"none": {"The process is itself.", types.NamespacedName{}, rest.ImpersonationConfig{}, http.Header{}},
		"somebody": {
			"Whom the process acts as is not asked for, too.", account,
			rest.ImpersonationConfig{UserName: "ann", UID: "7", Groups: []string{"admins"}, Extra: map[string][]string{"a": {"b"}}},
			http.Header{"Impersonate-User": {"system:serviceaccount:shop:rules"}},
		},
		"kept": {
			"Without an account that stays as it is.",
			types.NamespacedName{},
			rest.ImpersonationConfig{UserName: "ann"},
			http.Header{"Impersonate-User": {"ann"}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := http.Header{}
			server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				for key, values := range r.Header {
					if len(key) > len("Impersonate-") && key[:len("Impersonate-")] == "Impersonate-" {
						got[key] = values
					}
				}
				if agent := r.Header.Get("User-Agent"); agent != "agent/1" {
					t.Errorf("the user agent is %q", agent)
				}
				if token := r.Header.Get("Authorization"); token != "Bearer secret" {
					t.Errorf("the credentials are %q", token)
				}
			}))
			defer server.Close()
			config := &rest.Config{Host: server.URL, UserAgent: "agent/1", BearerToken: "secret", Impersonate: tc.before}
			client, err := rest.HTTPClientFor(access.Impersonate(config, tc.account))
			if err != nil {
				t.Fatal(err)
			}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			if err := answer.Body.Close(); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.before, config.Impersonate); diff != "" {
				t.Errorf("the original was changed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestImpersonationError(t *testing.T) {
	cause := errors.New("it is forbidden")
	err := error(&access.ImpersonationError{Account: account, Err: cause})
	const want = `dyncontroller may not act as ServiceAccount shop/rules: it lacks the verb impersonate on serviceaccounts "rules" in namespace shop`
	if err.Error() != want || !errors.Is(err, cause) {
		t.Errorf("have %v", err)
	}
}
