package controlplane

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Request is a kind of request as the API server counts it. In a pattern, an empty field matches anything.
type Request struct {
	// Verb is GET, LIST, WATCH, POST, PUT, PATCH, APPLY (server-side apply), DELETE or DELETECOLLECTION.
	Verb                                  string
	Group, Version, Resource, Subresource string
	// Code is the HTTP status, such as "409".
	Code string
	// DryRun is "All" for a dry run.
	DryRun string
}

// Requests counts requests by kind.
type Requests map[Request]int

// Requests are all requests that the API server has answered since it was started, by its own count
// (apiserver_request_total), those of its own components included. A watch counts when it ends.
func (c *ControlPlane) Requests(ctx context.Context) (Requests, error) {
	data, err := c.discovery.RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the API server's metrics: %w", err)
	}
	return parseRequests(data)
}

// Since is what came after an earlier count. The API server must not have been restarted in between.
func (r Requests) Since(earlier Requests) Requests {
	later := Requests{}
	for request, n := range r {
		if n -= earlier[request]; n != 0 {
			later[request] = n
		}
	}
	return later
}

// Count is the number of requests that match the pattern.
func (r Requests) Count(pattern Request) int {
	sum := 0
	for request, n := range r {
		if pattern.matches(request) {
			sum += n
		}
	}
	return sum
}

// Writes are the requests that asked for a change, whatever came of it. Dry runs are not among them, nor are reviews,
// which are questions though they are POSTed.
func (r Requests) Writes() Requests {
	writes := maps.Clone(r)
	maps.DeleteFunc(writes, func(request Request, _ int) bool { return !request.writes() })
	return writes
}

// String lists the requests in a fixed order, for messages of tests.
func (r Requests) String() string {
	var out strings.Builder
	for _, request := range slices.SortedFunc(maps.Keys(r), Request.compare) {
		fmt.Fprintf(&out, "%d %s\n", r[request], request)
	}
	return out.String()
}

func (r Request) String() string {
	name := strings.Join([]string{r.Group, r.Version, r.Resource}, "/")
	if r.Subresource != "" {
		name += "/" + r.Subresource
	}
	if r.DryRun != "" {
		name += " (dry run)"
	}
	return fmt.Sprintf("%s %s %s", r.Verb, strings.TrimLeft(name, "/"), r.Code)
}

func (r Request) compare(other Request) int {
	return cmp.Or(
		cmp.Compare(r.Group, other.Group), cmp.Compare(r.Resource, other.Resource),
		cmp.Compare(r.Subresource, other.Subresource), cmp.Compare(r.Version, other.Version),
		cmp.Compare(r.Verb, other.Verb), cmp.Compare(r.Code, other.Code), cmp.Compare(r.DryRun, other.DryRun),
	)
}

func (r Request) matches(request Request) bool {
	fits := func(pattern, value string) bool { return pattern == "" || pattern == value }
	return fits(r.Verb, request.Verb) && fits(r.Group, request.Group) && fits(r.Version, request.Version) &&
		fits(r.Resource, request.Resource) && fits(r.Subresource, request.Subresource) &&
		fits(r.Code, request.Code) && fits(r.DryRun, request.DryRun)
}

func (r Request) writes() bool {
	if r.DryRun != "" || r.Group == "authorization.k8s.io" || r.Group == "authentication.k8s.io" {
		return false
	}
	return slices.Contains([]string{"POST", "PUT", "PATCH", "APPLY", "DELETE", "DELETECOLLECTION"}, r.Verb)
}

const requestsMetric = "apiserver_request_total"

// parseRequests reads the one metric out of the Prometheus text format.
func parseRequests(data []byte) (Requests, error) {
	requests := Requests{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for number := 1; lines.Scan(); number++ {
		rest, found := strings.CutPrefix(lines.Text(), requestsMetric+"{")
		if !found {
			continue
		}
		request, n, err := parseSample(rest)
		if err != nil {
			return nil, fmt.Errorf("line %d of the metrics: %w", number, err)
		}
		requests[request] += n
	}
	return requests, lines.Err()
}

// parseSample reads what follows the opening brace: labels, a closing brace and a number. Labels that do not tell
// requests apart (component, scope) are dropped.
func parseSample(rest string) (Request, int, error) {
	labels, rest, err := parseLabels(rest)
	if err != nil {
		return Request{}, 0, err
	}
	value, _, _ := strings.Cut(strings.TrimSpace(rest), " ") // A timestamp may follow.
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || n != math.Trunc(n) || n < 0 || n > 1<<53 {
		return Request{}, 0, fmt.Errorf("%q is no count", value)
	}
	return Request{
		Verb:        labels["verb"],
		Group:       labels["group"],
		Version:     labels["version"],
		Resource:    labels["resource"],
		Subresource: labels["subresource"],
		Code:        labels["code"],
		DryRun:      labels["dry_run"],
	}, int(n), nil
}

// parseLabels returns what follows the closing brace, too. Values are quoted as in Go, only with fewer escapes.
func parseLabels(rest string) (map[string]string, string, error) {
	labels := map[string]string{}
	for !strings.HasPrefix(rest, "}") {
		name, after, _ := strings.Cut(rest, "=")
		quoted, err := strconv.QuotedPrefix(after)
		if err != nil {
			return nil, "", fmt.Errorf("no label at %q", rest)
		}
		value, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, "", fmt.Errorf("no label at %q", rest)
		}
		labels[name] = value
		rest = strings.TrimPrefix(after[len(quoted):], ",")
	}
	return labels, rest[1:], nil
}
