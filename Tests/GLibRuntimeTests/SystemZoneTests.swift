import GLibRuntime
import Glibc
import RelayTestKit
import Testing

/// Whether the system says a zone that there is: GLib takes UTC for everything else, without a word.
struct SystemZoneTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        mkdir(folder.path + "/Europe", 0o700)
        folder.write("Europe/Berlin", "TZif2")
        folder.write("passwd", "root:x:0:0")
    }

    private func fault(_ variable: String?, link: String = "none") -> SystemZone.Fault? {
        SystemZone.fault(variable: variable, link: folder.path + "/" + link, table: folder.path)
    }

    @Test(arguments: ["Europe/Berlin", ":Europe/Berlin", "UTC", "", "UTC0", "CET-1CEST,M3.5.0,M10.5.0/3", "+02:00"])
    func whatTheVariableMayName(_ name: String) {
        #expect(fault(name) == nil)
    }

    @Test(arguments: ["Mars/Base", "bogus", "passwd", "../../etc/passwd", "/etc/passwd", "Europe"])
    func whatIsNoZoneIsAFault(_ name: String) throws {
        let fault = try #require(self.fault(name))
        #expect(fault.source == "TZ" && fault.name == name && fault.hasTable)
    }

    @Test func withoutATableNothingButRulesIsKnown() throws {
        let empty = folder.path + "/passwd"
        let fault = try #require(SystemZone.fault(variable: "Asia/Seoul", link: "", table: empty))
        #expect(!fault.hasTable)
        #expect(fault.description == "TZ names \"Asia/Seoul\", and this system has no zone table; install tzdata")
        #expect(SystemZone.fault(variable: "KST-9", link: "", table: empty) == nil)
    }

    @Test func theLinkLeadsToAZone() throws {
        symlink("Europe/Berlin", folder.path + "/right")
        symlink("Mars/Base", folder.path + "/wrong")
        symlink("passwd", folder.path + "/text")
        #expect(fault(nil, link: "right") == nil)
        // Without a variable and a link it is UTC.
        #expect(fault(nil, link: "none") == nil)
        let wrong = try #require(fault(nil, link: "wrong"))
        #expect(wrong.source == folder.path + "/wrong" && wrong.name.hasSuffix("/Mars/Base"))
        #expect(fault(nil, link: "text")?.name.hasSuffix("/passwd") == true)
        #expect(fault(nil, link: "passwd") != nil)
    }
}
