"""`cpack`: the package of Debian states what it needs, and works from where `dpkg -x` unpacks it."""

import glob
import os
import subprocess

import installed
from installed import WithFolder, bare_environment, files_below, run


class Package(WithFolder):
    @classmethod
    def prepare(cls):
        run("cpack", "--config", os.path.join(installed.BUILD, "CPackConfig.cmake"), "-B", cls.path("made"))
        found = glob.glob(cls.path("made", "*.deb"))
        assert len(found) == 1, found
        cls.package = found[0]
        run("dpkg", "-x", cls.package, cls.path("root"))
        cls.prefix = cls.path("root", "usr")
        cls.etcc = os.path.join(cls.prefix, "bin", "etcc")
        installed.write_weights(cls.folder)

    def field(self, name):
        return run("dpkg-deb", "--field", self.package, name).strip()

    def test_what_it_says_of_itself(self):
        self.assertEqual(os.path.basename(self.package), f"axon_{installed.VERSION}_amd64.deb")
        self.assertEqual(self.field("Package"), "axon")
        self.assertEqual(self.field("Version"), installed.VERSION)
        self.assertEqual(self.field("Section"), "devel")
        self.assertRegex(self.field("Maintainer"), r"^[^<>]+ <[^<>@]+@[^<>@]+>$")
        self.assertGreater(int(self.field("Installed-Size")), 10_000)
        self.assertTrue(self.field("Description").startswith("compiler and runtime of the tensor language Axon"))

    def test_it_depends_on_every_library_that_it_loads(self):
        depends = {part.split()[0] for part in self.field("Depends").split(",")}
        owners = set()
        for name in ("bin/etcc", f"lib/libaxon_runtime.so.{installed.MAJOR}"):
            needed = [line.split()[1] for line in run("objdump", "-p", os.path.join(self.prefix, name)).splitlines()
                      if line.split()[:1] == ["NEEDED"]]
            for library in needed:
                found = subprocess.run(["dpkg", "-S", f"*/x86_64-linux-gnu/{library}"], capture_output=True, text=True, check=False).stdout
                owners.add(found.split(":")[0])
        self.assertLessEqual({"libc6", "libstdc++6", "libz3-4", "zlib1g"}, owners)
        self.assertFalse([name for name in owners if "llvm" in name], "loading it takes longer than a check of a file")
        self.assertEqual(owners, depends)

    def test_the_loader_is_told_of_the_library(self):
        run("dpkg-deb", "--control", self.package, self.path("control"))
        self.assertIn("shlibs", files_below(self.path("control")))
        with open(self.path("control", "shlibs"), encoding="utf-8") as file:
            self.assertEqual(file.read(), f"libaxon_runtime {installed.MAJOR} axon (>= {installed.VERSION})\n")
        with open(self.path("control", "postinst"), encoding="utf-8") as file:
            self.assertIn("ldconfig", file.read())

    def test_the_files_belong_to_root_below_usr(self):
        for line in run("dpkg-deb", "--contents", self.package).splitlines():
            self.assertEqual(line.split()[1], "root/root", line)
            self.assertRegex(line.split()[5], r"^\./(usr/.*)?$", line)

    def test_the_compiler_runs_from_where_it_was_unpacked(self):
        program = self.path("small.axn")
        with open(program, "w", encoding="utf-8") as file:
            file.write("entry main (x : f32[n]) = softmax x\n")
        out = run(self.etcc, "run", program, "main", "x=[1]", env=bare_environment(), cwd="/")
        self.assertIn("[1]", out)

    def test_the_example_builds_against_it(self):
        build = self.path("build")
        run("cmake", "-S", os.path.join(self.prefix, "share", "doc", "axon", "examples", "c"), "-B", build,
            "-D", f"CMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", build)
        said = run(os.path.join(build, "classify"), os.path.join(build, "classify.axb"), self.path("net.npz"),
                   self.path("names.map"), env=bare_environment())
        self.assertEqual(said, installed.CLASSIFY_SAYS)


if __name__ == "__main__":
    installed.main()
