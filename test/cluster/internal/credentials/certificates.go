// Package credentials makes what the components and their users need to trust each other: a certificate authority, a
// serving certificate, the key that signs service account tokens, and bearer tokens.
package credentials

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// validity is generous, since a control plane may be kept for days; it is thrown away long before a year.
const validity = 365 * 24 * time.Hour

// Serving is a serving certificate and the authority that signed it, all PEM. The key of the authority is not kept:
// nothing else is ever signed by it.
type Serving struct {
	CA          []byte
	Certificate []byte
	Key         []byte
}

// NewServing makes a certificate for servers on 127.0.0.1.
func NewServing(now time.Time) (Serving, error) {
	ca := template("cluster-ca", now)
	ca.IsCA = true
	ca.BasicConstraintsValid = true
	ca.KeyUsage = x509.KeyUsageCertSign
	leaf := template("kube-apiserver", now)
	leaf.KeyUsage = x509.KeyUsageDigitalSignature
	leaf.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	leaf.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	leaf.DNSNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}

	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Serving{}, fmt.Errorf("making the certificate authority: %w", err)
	}
	leafKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Serving{}, fmt.Errorf("making the serving certificate: %w", err)
	}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		return Serving{}, fmt.Errorf("making the certificate authority: %w", err)
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, ca, leafKey.Public(), caKey)
	if err != nil {
		return Serving{}, fmt.Errorf("making the serving certificate: %w", err)
	}
	key, err := encodeKey(leafKey)
	if err != nil {
		return Serving{}, err
	}
	return Serving{CA: encode("CERTIFICATE", caDER), Certificate: encode("CERTIFICATE", leafDER), Key: key}, nil
}

// NewSigningKey makes a PEM key that signs service account tokens and, since Kubernetes reads the public half out of
// a private key, verifies them.
func NewSigningKey() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making the signing key: %w", err)
	}
	return encodeKey(key)
}

// template starts an hour ago, so that a clock that was just set back does no harm.
func template(name string, now time.Time) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(validity),
	}
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encoding a key: %w", err)
	}
	return encode("EC PRIVATE KEY", der), nil
}

func encode(kind string, der []byte) []byte {
	var out bytes.Buffer
	_ = pem.Encode(&out, &pem.Block{Type: kind, Bytes: der}) // A buffer takes every write.
	return out.Bytes()
}
