package scrapeauth

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/client"
)

const (
	// timeout bounds both reviews of a caller together. Prometheus waits for ten seconds.
	timeout = 5 * time.Second
	// A refusal is cached for a shorter time: who has just been given a right does not wait long.
	keepAllowed = time.Minute
	keepRefused = 10 * time.Second
	// A caller who was allowed is reviewed before strangers for so long: longer than Prometheus waits between two scrapes.
	keepKnown = 10 * time.Minute
	// mostCached bounds each cache, in callers and paths.
	mostCached = 1024
	// longestToken is far above the token of a ServiceAccount, in bytes.
	longestToken = 16 << 10
	// Strangers may cause so many reviews.
	strangersPerSecond, strangersAtOnce = 10, 20
)

// Filter decides whose requests are answered. It is safe for concurrent use.
type Filter struct {
	tokens   rest.Interface
	access   rest.Interface
	verdicts *cache.LRUExpireCache // status codes by question
	// known holds the questions that were lately answered with 200. They are asked again, but strangers cannot delay that.
	known     *cache.LRUExpireCache
	strangers flowcontrol.PassiveRateLimiter
	log       *slog.Logger
	lost      atomic.Bool // the API server could not be asked, which has been logged
}

// question is what is asked of a caller. Tokens themselves are not kept.
type question struct {
	token [sha256.Size]byte
	path  string
}

// New returns a filter that asks with the rights of the configuration, which must allow to create tokenreviews and
// subjectaccessreviews. It sends no request yet.
func New(config *rest.Config, clock clock.PassiveClock, log *slog.Logger) (*Filter, error) {
	own := rest.CopyConfig(config)
	own.RateLimiter, own.QPS = nil, -1 // Reviews of strangers must not hold back rules, nor wait.
	tokens, err := client.For(own, authenticationv1.SchemeGroupVersion, &authenticationv1.TokenReview{})
	if err != nil {
		return nil, fmt.Errorf("making a client for token reviews: %w", err)
	}
	access, err := client.For(own, authorizationv1.SchemeGroupVersion, &authorizationv1.SubjectAccessReview{})
	if err != nil {
		return nil, fmt.Errorf("making a client for access reviews: %w", err)
	}
	return &Filter{
		tokens: tokens, access: access, log: log,
		verdicts:  cache.NewLRUExpireCacheWithClock(mostCached, clock),
		known:     cache.NewLRUExpireCacheWithClock(mostCached, clock),
		strangers: flowcontrol.NewTokenBucketPassiveRateLimiterWithClock(strangersPerSecond, strangersAtOnce, clock),
	}, nil
}

// Protect has the handler answer only who may get the path, as a nonResourceURL, whatever the path of the request is.
func (f *Filter) Protect(path string, handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, token, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
		if !strings.EqualFold(scheme, "Bearer") {
			token = ""
		}
		code := f.verdict(r.Context(), strings.TrimSpace(token), path)
		if code == http.StatusOK {
			handler.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Connection", "close") // Otherwise a stranger may hold many.
		switch code {
		case http.StatusTooManyRequests:
			http.Error(w, "too many callers are new here, come again in a moment", code)
		case http.StatusUnauthorized:
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a bearer token that the API server accepts is needed", code)
		case http.StatusForbidden:
			http.Error(w, "the token does not give the right to get this path", code)
		default:
			http.Error(w, "the API server cannot be asked who may come in; the log says why", code)
		}
	})
}

// verdict is the status code for whoever has the token.
func (f *Filter) verdict(ctx context.Context, token, path string) int {
	if token == "" || len(token) > longestToken {
		return http.StatusUnauthorized
	}
	asked := question{sha256.Sum256([]byte(token)), path}
	cached, _ := f.verdicts.Get(asked)
	if code, is := cached.(int); is {
		return code
	}
	if _, known := f.known.Get(asked); !known && !f.strangers.TryAccept() {
		return http.StatusTooManyRequests
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	code, err := f.review(ctx, token, path)
	if err != nil {
		// A caller who has gone says nothing of the API server.
		if ctx.Err() != context.Canceled && f.lost.CompareAndSwap(false, true) {
			f.log.Warn("callers cannot be checked, so none is let in", "err", err)
		}
		return http.StatusServiceUnavailable
	}
	// For a caller without an identity only the first review was made.
	if code != http.StatusUnauthorized && f.lost.CompareAndSwap(true, false) {
		f.log.Info("callers can be checked again")
	}
	if code == http.StatusOK {
		f.verdicts.Add(asked, code, keepAllowed)
		f.known.Add(asked, nil, keepKnown)
	} else {
		f.verdicts.Add(asked, code, keepRefused)
		f.known.Remove(asked)
	}
	return code
}

// review asks the API server whose the token is, and whether they may get the path. An error says that it could not be asked.
func (f *Filter) review(ctx context.Context, token, path string) (int, error) {
	asked := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}
	who := &authenticationv1.TokenReview{}
	if err := f.tokens.Post().Resource("tokenreviews").Body(asked).Do(ctx).Into(who); err != nil {
		return 0, fmt.Errorf("asking whose a token is: %w", err)
	}
	user := who.Status.User
	if !who.Status.Authenticated || user.Username == "" {
		return http.StatusUnauthorized, nil
	}
	extra := make(map[string]authorizationv1.ExtraValue, len(user.Extra))
	for name, values := range user.Extra {
		extra[name] = authorizationv1.ExtraValue(values)
	}
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra,
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: path, Verb: "get"},
	}}
	answer := &authorizationv1.SubjectAccessReview{}
	if err := f.access.Post().Resource("subjectaccessreviews").Body(review).Do(ctx).Into(answer); err != nil {
		return 0, fmt.Errorf("asking whether a caller may get %s: %w", path, err)
	}
	if !answer.Status.Allowed || answer.Status.Denied {
		return http.StatusForbidden, nil
	}
	return http.StatusOK, nil
}
