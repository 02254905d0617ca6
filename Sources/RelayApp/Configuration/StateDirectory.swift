/// The directory in which a relay keeps its state.
enum StateDirectory {
    /// Returns the place without `--state`: `$STATE_DIRECTORY`, else `$XDG_STATE_HOME/chirp-relay`, else below the home
    /// directory; nil if the environment gives none.
    static func usualPath(_ environment: (String) -> String?) -> String? {
        // systemd separates several directories by colons; the first is ours.
        if let given = environment("STATE_DIRECTORY")?.split(separator: ":").first { return String(given) }
        // Relative values are ignored, as the XDG Base Directory Specification demands.
        if let state = environment("XDG_STATE_HOME"), state.hasPrefix("/") { return state + "/chirp-relay" }
        if let home = environment("HOME"), home.hasPrefix("/") { return home + "/.local/state/chirp-relay" }
        return nil
    }
}
