// A self-signed certificate that ends before the others of the tests, with a subject that a spreadsheet takes for a
// formula. It protects nothing.
export const ENDS_2031 = `-----BEGIN CERTIFICATE-----
MIIBqjCCAU+gAwIBAgIUGcUiQqyltz9yFSGFHEELTcUw5u4wCgYIKoZIzj0EAwIw
KjEYMBYGA1UECgwPPUhZUEVSTElOSygieCIpMQ4wDAYDVQQDDAVzaG9ydDAeFw0y
NjExMjUxODA0NDFaFw0zMTAxMDMxODA0NDFaMCoxGDAWBgNVBAoMDz1IWVBFUkxJ
TksoIngiKTEOMAwGA1UEAwwFc2hvcnQwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AAQbfOJXKYMoS793H+yZne+2Tuv9VvwMBptdrCy/gZa/BwgwZYXsev1XBaaHlTN0
82Y9iQ0Z9LsTjiSNrZMVagono1MwUTAdBgNVHQ4EFgQULDLTWWx8ngsZAh5yxKii
Jwl3YzAwHwYDVR0jBBgwFoAULDLTWWx8ngsZAh5yxKiiJwl3YzAwDwYDVR0TAQH/
BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEAivdtkhfIPAqi9a2YVuPso9HsVY6o
YfkANo4380nKYPgCIQCMDe3U7mSff4y8xTVBqyXYksMh6/VNpMH2BcGZDWIIVQ==
-----END CERTIFICATE-----
`;

export const ENDS_AT = "2031-01-03T18:04:41.000Z";
