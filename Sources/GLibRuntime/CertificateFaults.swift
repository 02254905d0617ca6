internal import CGLib

/// Says in words why the peer's certificate was refused; empty if it was not.
///
/// GIO's own text says only "Unacceptable TLS certificate"; the reasons are in flags.
@MainLoop
func certificateFaults(of connection: UnsafeMutablePointer<GTlsConnection>) -> [String] {
    let flags = g_tls_connection_get_peer_certificate_errors(connection).rawValue
    let certificate = g_tls_connection_get_peer_certificate(connection)
    let reasons: [(GTlsCertificateFlags, () -> String)] = [
        (G_TLS_CERTIFICATE_UNKNOWN_CA, { "unknown authority" }),
        (G_TLS_CERTIFICATE_BAD_IDENTITY, { "wrong host" }),
        (
            G_TLS_CERTIFICATE_NOT_ACTIVATED,
            { "not valid before " + day(certificate.flatMap(g_tls_certificate_get_not_valid_before)) }
        ),
        (G_TLS_CERTIFICATE_EXPIRED, { "expired " + day(certificate.flatMap(g_tls_certificate_get_not_valid_after)) }),
        (G_TLS_CERTIFICATE_REVOKED, { "revoked" }),
        (G_TLS_CERTIFICATE_INSECURE, { "insecure algorithm" }),
        (G_TLS_CERTIFICATE_GENERIC_ERROR, { "not acceptable" }),
    ]
    return reasons.filter { flags & $0.0.rawValue != 0 }.map { $0.1() }
}

/// Formats and frees a date.
private func day(_ date: OpaquePointer?) -> String {
    guard let date else { return "at an unknown date" }
    defer { g_date_time_unref(date) }
    guard let text = g_date_time_format(date, "%Y-%m-%d") else { return "at an unknown date" }
    defer { g_free(text) }
    return String(cString: text)
}
