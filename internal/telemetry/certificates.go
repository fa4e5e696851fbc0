package telemetry

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"log"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Certificates gives the certificate for a connection that begins. It is safe for concurrent
// use.
type Certificates func(*tls.ClientHelloInfo) (*tls.Certificate, error)

// CertificatesIn are tls.crt and tls.key of a folder, as a Secret of type kubernetes.io/tls has
// them. They are read for each connection. While they are wrong, as when one of both has been
// replaced, those from before stay in use, which the log tells once.
func CertificatesIn(folder string, log *slog.Logger) Certificates {
	var mu sync.Mutex
	var now *pair // guarded by mu
	said := ""    // guarded by mu
	return func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		mu.Lock()
		defer mu.Unlock()
		next, err := now.read(folder)
		if err != nil && now == nil {
			return nil, err
		}
		if err != nil {
			if said != err.Error() {
				said = err.Error()
				log.Warn("a certificate cannot be used, the one from before stays", "err", err)
			}
			return &now.certificate, nil
		}
		now, said = next, ""
		return &now.certificate, nil
	}
}

// pair is a certificate, and the files that it comes from.
type pair struct {
	crt, key    []byte
	certificate tls.Certificate
}

// read is the pair in a folder, which is this one where nothing has changed.
func (p *pair) read(folder string) (*pair, error) {
	crt, err := os.ReadFile(filepath.Join(folder, "tls.crt")) //nolint:gosec // The user names it.
	if err != nil {
		return nil, fmt.Errorf("reading a certificate: %w", err)
	}
	key, err := os.ReadFile(filepath.Join(folder, "tls.key")) //nolint:gosec // The user names it.
	if err != nil {
		return nil, fmt.Errorf("reading the key of a certificate: %w", err)
	}
	if p != nil && bytes.Equal(p.crt, crt) && bytes.Equal(p.key, key) {
		return p, nil
	}
	certificate, err := tls.X509KeyPair(crt, key)
	if err != nil {
		return nil, fmt.Errorf("using tls.crt and tls.key in %s: %w", folder, err)
	}
	return &pair{crt, key, certificate}, nil
}

// renewBefore is how long before its end a certificate of our own is replaced.
const renewBefore = 30 * 24 * time.Hour

// SelfSigned is a certificate of our own for localhost, another one after some months. Nobody
// can tell it from that of somebody else.
func SelfSigned(clock clock.PassiveClock) Certificates {
	var mu sync.Mutex
	var now *tls.Certificate // guarded by mu
	return func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		mu.Lock()
		defer mu.Unlock()
		if now != nil && clock.Now().Before(now.Leaf.NotAfter.Add(-renewBefore)) {
			return now, nil
		}
		made, err := sign(clock.Now())
		if err != nil {
			return nil, fmt.Errorf("making a certificate: %w", err)
		}
		now = made
		return now, nil
	}
}

// sign makes a certificate that is its own authority, for a year. Its key is of the kind that
// costs a server the least, since strangers may have it used.
func sign(now time.Time) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	said := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "dyncontroller"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(1, 0, 0), // Clocks differ.
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, said, said, key.Public(), key)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(signed)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: key, Leaf: leaf}, nil
}

// handshake begins what a server logs of a client that does not come to terms with it. Any
// scanner of ports does that.
const handshake = "http: TLS handshake error"

// connectionLog has a server log to ours.
func connectionLog(to *slog.Logger) *log.Logger { return log.New(connectionWriter{to}, "", 0) }

type connectionWriter struct{ log *slog.Logger }

// Write implements [io.Writer] for one message.
func (w connectionWriter) Write(message []byte) (int, error) {
	text := string(bytes.TrimSpace(message))
	if bytes.HasPrefix(message, []byte(handshake)) {
		w.log.Debug("a connection failed", "err", text)
	} else {
		w.log.Warn("a request for metrics failed", "err", text)
	}
	return len(message), nil
}
