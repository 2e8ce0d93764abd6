package crd

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var uuids = regexp.MustCompile(`(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?([0-9a-f])[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$`)

// checkFormat finds a text that isn't of its format (k8s.io/kube-openapi/pkg/validation/strfmt).
func (s *schema) checkFormat(at, v string) *field.Error {
	if of(plain(s.format), v) {
		return nil
	}
	return field.TypeInvalid(pathOf(at), v, fmt.Sprintf("%s in body must be of type %s: %q", at, s.format, v))
}

func of(format, v string) bool {
	var err error
	switch format {
	case "datetime":
		_, err = time.Parse(time.RFC3339Nano, strings.ToUpper(v))
	case "date":
		_, err = time.Parse(time.DateOnly, v)
	case "duration":
		_, err = time.ParseDuration(v)
	case "ipv4":
		a, e := netip.ParseAddr(v)
		return e == nil && a.Is4()
	case "ipv6":
		a, e := netip.ParseAddr(v)
		return e == nil && strings.Contains(v, ":") && a.IsValid()
	case "cidr":
		_, _, err = net.ParseCIDR(v)
	case "mac":
		_, err = net.ParseMAC(v)
	case "uri":
		_, err = url.ParseRequestURI(v)
	case "email":
		name, host, found := strings.Cut(v, "@")
		return found && name != "" && host != "" && !strings.ContainsAny(v, " \t\n") && !strings.Contains(host, "@")
	case "hostname":
		return len(validation.IsDNS1123Subdomain(strings.ToLower(v))) == 0
	case "byte":
		_, err = base64.StdEncoding.DecodeString(v)
	case "uuid", "uuid3", "uuid4", "uuid5":
		m := uuids.FindStringSubmatch(v)
		return m != nil && (format == "uuid" || m[1] == format[4:])
	case "k8sshortname":
		return len(validation.IsDNS1123Label(v)) == 0
	case "k8slongname":
		return len(validation.IsDNS1123Subdomain(v)) == 0
	}
	return err == nil
}
