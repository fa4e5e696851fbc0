package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

const (
	controllerTimeout = 10 * time.Second
	// longestMemory is far above what a controller says of one object, in bytes.
	longestMemory = 4 << 20
)

// remembered asks the controller, if there is one to ask, what it remembers of an object.
func (e *explaining) remembered(ctx context.Context, object plan.Object) (*trace.Memory, error) {
	if e.controller == "" {
		return nil, nil
	}
	address := e.controller
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	base, err := url.Parse(address)
	if err != nil || base.Host == "" {
		return nil, failure{exitUsage, fmt.Errorf("--controller: want an address such as 127.0.0.1:8080, have %q", e.controller)}
	}
	query := url.Values{}
	for name, value := range map[string]string{
		"group": object.GVR.Group, "version": object.GVR.Version, "resource": object.GVR.Resource,
		"namespace": object.Namespace, "name": object.Name,
	} {
		query.Set(name, value)
	}
	at := base.JoinPath("explain")
	at.RawQuery = query.Encode()
	memory, err := askController(ctx, at.String())
	if err != nil {
		return nil, internal(fmt.Errorf("asking the controller at %s: %w", e.controller, err))
	}
	return memory, nil
}

func askController(ctx context.Context, address string) (*trace.Memory, error) {
	ctx, cancel := context.WithTimeout(ctx, controllerTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{DisableKeepAlives: true}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		if failed, is := errors.AsType[*url.Error](err); is {
			err = failed.Err // The address has been said.
		}
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusNotFound {
		return nil, errors.New("it does not answer /explain: is this the address of its metrics?")
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answers %s", response.Status)
	}
	var memory trace.Memory
	if err := json.NewDecoder(io.LimitReader(response.Body, longestMemory)).Decode(&memory); err != nil {
		return nil, fmt.Errorf("reading its answer: %w", err)
	}
	return &memory, nil
}
