import Glibc
import RelayApp

exit(await Program.run(Array(CommandLine.arguments.dropFirst())).rawValue)
