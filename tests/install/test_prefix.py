"""`cmake --install`: everything lies where it belongs and works from there, also where the prefix was moved to another
place; programs find it by CMake and by pkg-config."""

import os
import re
import shutil
import subprocess
import unittest

import installed
from installed import WithFolder, bare_environment, fails, files_below, install, run

IMPORTING = "import pool\nentry main (x : f32[n]) where 1 <= n = pool.max1d 1 1 0 (softmax x)\n"
HEADER_ONLY = "#include <axon/axon.h>\nint main(void) { axon_version v; axon_get_version(&v); return (int)v.major; }\n"


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


class Install(WithFolder):
    @classmethod
    def prepare(cls):
        install(cls.path("first"))
        os.makedirs(cls.path("another place"))
        cls.prefix = cls.path("another place", "axon")
        os.rename(cls.path("first"), cls.prefix)
        cls.etcc = os.path.join(cls.prefix, "bin", "etcc")
        installed.write_weights(cls.folder)

    def test_everything_has_its_place(self):
        files = files_below(self.prefix)
        version, major = installed.VERSION, installed.MAJOR
        for expected in ("bin/etcc", "include/axon/axon.h", "lib/libaxon_runtime.so", f"lib/libaxon_runtime.so.{major}",
                         f"lib/libaxon_runtime.so.{version}", "lib/pkgconfig/axon.pc", "lib/cmake/axon/axon-config.cmake",
                         "lib/cmake/axon/axon-config-version.cmake", "lib/cmake/axon/axon-targets.cmake",
                         "share/bash-completion/completions/etcc", "share/zsh/site-functions/_etcc",
                         "share/fish/vendor_completions.d/etcc.fish", "share/man/man1/etcc.1",
                         "share/axon/editors/vim/syntax/axon.vim",
                         "share/doc/axon/LICENSE", "share/doc/axon/language.md", "share/doc/axon/examples/c/main.c"):
            self.assertIn(expected, files)
        library = [f.removeprefix("share/axon/stdlib/") for f in files if f.startswith("share/axon/stdlib/")]
        self.assertEqual(library, files_below(os.path.join(installed.SOURCE, "stdlib")))
        self.assertTrue(os.access(self.etcc, os.X_OK))
        self.assertFalse([f for f in files if f.endswith(".a")], "libraries of the build are not for others")

    def test_parts_can_be_installed_alone(self):
        runtime, development = self.path("runtime"), self.path("development")
        install(runtime, "--component", "runtime")
        self.assertEqual(files_below(runtime), [f"lib/libaxon_runtime.so.{installed.MAJOR}",
                                                f"lib/libaxon_runtime.so.{installed.VERSION}"])
        install(development, "--component", "development")
        self.assertEqual([f for f in files_below(development) if "cmake" not in f],
                         ["include/axon/axon.h", "lib/libaxon_runtime.so", "lib/pkgconfig/axon.pc"])

    def test_no_file_knows_where_it_was_built_or_installed(self):
        for name in files_below(self.prefix):
            with open(os.path.join(self.prefix, name), "rb") as file:
                content = file.read()
            for place in (installed.SOURCE, installed.BUILD, self.path("first")):
                self.assertNotIn(place.encode(), content, name)

    def test_the_library_asks_for_nothing_special(self):
        for name in ("bin/etcc", "lib/libaxon_runtime.so"):
            header = run("objdump", "-p", os.path.join(self.prefix, name))
            self.assertNotRegex(header, "RUNPATH|RPATH", name)

    # ---- the compiler ----
    def test_the_compiler_finds_its_library_beside_itself(self):
        program = write(self.path("importing.axn"), IMPORTING)
        out = run(self.etcc, "check", "--types", program, env=bare_environment(), cwd="/")
        self.assertIn("main : f32[n] -> f32[", out)
        self.assertIn("[1]", run(self.etcc, "run", program, "main", "x=[5]", env=bare_environment(), cwd="/"))

    def test_another_library_by_the_environment(self):
        library = self.path("library")
        shutil.copytree(os.path.join(installed.SOURCE, "stdlib"), library)
        write(os.path.join(library, "only_here.axn"), "fun third x = x / 3.0\n")
        program = write(self.path("third.axn"), "import only_here\nentry main (x : f32[n]) = only_here.third x\n")
        run(self.etcc, "check", program, env=bare_environment(AXON_STDLIB=library))
        self.assertIn("E0403", fails(self.etcc, "check", program, env=bare_environment(AXON_STDLIB=""), status=1))
        said = fails(self.etcc, "check", program, env=bare_environment(AXON_STDLIB="/no/where"), status=2)
        self.assertIn("AXON_STDLIB: /no/where is not the standard library", said)

    def test_a_compiler_without_its_library_says_so(self):
        os.makedirs(self.path("alone", "bin"), exist_ok=True)
        etcc = shutil.copy(self.etcc, self.path("alone", "bin", "etcc"))
        program = write(self.path("small.axn"), "entry main (x : f32[n]) = x\n")
        said = fails(etcc, "check", program, env=bare_environment(), status=2)
        self.assertIn(self.path("alone", "share", "axon", "stdlib"), said)

    def test_commands_that_need_no_program(self):
        self.assertIn(f"axon {installed.VERSION} ", run(self.etcc, "--version"))
        self.assertIn("E0312", run(self.etcc, "explain", "E0312", env=bare_environment(), cwd="/"))
        write(self.path("documented.axn"), "--| Twice.\nfun twice x = x * 2.0\n")
        run(self.etcc, "doc", self.path("documented.axn"), "-o", self.path("pages"), env=bare_environment(), cwd="/")
        self.assertIn("documented.html", files_below(self.path("pages")))

    def test_completion_scripts_are_those_of_the_compiler(self):
        with open(os.path.join(self.prefix, "share/bash-completion/completions/etcc"), encoding="utf-8") as file:
            self.assertEqual(file.read(), run(self.etcc, "--completion", "bash"))
        script = 'source "$1"; COMP_WORDS=(etcc che); COMP_CWORD=1; _etcc; echo "${COMPREPLY[@]}"'
        path = os.path.join(self.prefix, "share/bash-completion/completions/etcc")
        self.assertEqual(run("bash", "-c", script, "bash", path), "check\n")

    def test_the_manual_page_is_that_of_the_compiler(self):
        page = os.path.join(self.prefix, "share/man/man1/etcc.1")
        with open(page, encoding="utf-8") as file:
            self.assertEqual(file.read(), run(self.etcc, "--manual"))
        groff = ["groff", "-ww", "-man", "-Tutf8", "-P-cbou", page]
        shown = subprocess.run(groff, capture_output=True, text=True, check=True)
        self.assertEqual(shown.stderr, "", "warnings of groff")
        for line in ("       etcc build [OPTIONS] FILE", "       0      success"):
            self.assertIn(line, shown.stdout.splitlines())

    # ---- programs over the library ----
    def classify(self, program, bundle):
        return run(program, bundle, self.path("net.npz"), self.path("names.map"), env=bare_environment())

    def test_a_project_finds_it_by_cmake(self):
        build = self.path("by-cmake")
        run("cmake", "-S", os.path.join(installed.SOURCE, "examples", "c"), "-B", build,
            "-D", f"CMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", build)
        program, bundle = os.path.join(build, "classify"), os.path.join(build, "classify.axb")
        self.assertEqual(self.classify(program, bundle), installed.CLASSIFY_SAYS)
        # Wrong uses end with the library's sentence and its status.
        weights, names = self.path("net.npz"), self.path("names.map")
        self.assertIn("usage", fails(program, status=2))
        self.assertIn("error[E0802]", fails(program, self.path("none.axb"), weights, names, status=3))
        self.assertIn("error[E0811]", fails(program, weights, weights, names, status=1))
        self.assertIn("error[E0708]", fails(program, bundle, weights, __file__, status=1))
        self.assertIn("error[E0709]", fails(program, bundle, weights, write(self.path("empty.map"), ""), status=1))

    def test_a_project_that_wants_another_version_is_told(self):
        project = self.path("later")
        os.makedirs(project)
        write(os.path.join(project, "CMakeLists.txt"),
              "cmake_minimum_required(VERSION 3.18)\nproject(later C)\nfind_package(axon 9.0 REQUIRED)\n")
        said = fails("cmake", "-S", project, "-B", os.path.join(project, "build"), "-D", f"CMAKE_PREFIX_PATH={self.prefix}",
                     status=1)
        self.assertIn(f"version: {installed.VERSION}", said)

    def test_a_program_finds_it_by_pkg_config(self):
        environment = bare_environment(PKG_CONFIG_PATH=os.path.join(self.prefix, "lib", "pkgconfig"))

        def ask(*options):
            return run("pkg-config", *options, "axon", env=environment).strip().replace("\\ ", " ")

        self.assertEqual(ask("--modversion"), installed.VERSION)
        self.assertEqual(os.path.realpath(ask("--variable=etcc")), os.path.realpath(self.etcc))
        program, bundle = self.path("by-pkg-config"), self.path("by-pkg-config.axb")
        source = os.path.join(installed.SOURCE, "examples", "c")
        # `eval`, because the prefix has a blank, which pkg-config writes as "\ ".
        script = 'eval cc \'"$1"\' -o \'"$2"\' "$(pkg-config --cflags --libs axon)" -Wl,-rpath,\'"$3"\''
        run("bash", "-c", script, "bash", os.path.join(source, "main.c"), program, os.path.join(self.prefix, "lib"),
            env=environment)
        run(self.etcc, "build", os.path.join(source, "classify.axn"), "--level", "x86-64-v2", "-o", bundle)
        self.assertEqual(self.classify(program, bundle), installed.CLASSIFY_SAYS)
        self.assertIn(f"libaxon_runtime.so.{installed.MAJOR}", run("objdump", "-p", program))

    def test_the_header_alone_in_c_and_cpp(self):
        include, lib = os.path.join(self.prefix, "include"), os.path.join(self.prefix, "lib")
        for compiler, standard in (("cc", "c99"), ("cc", "c17"), ("c++", "c++11"), ("c++", "c++20")):
            suffix = "c" if compiler == "cc" else "cpp"
            source = write(self.path(f"alone-{standard}.{suffix}"), HEADER_ONLY)
            program = self.path(f"alone-{standard}")
            run(compiler, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{include}", source, "-o", program,
                f"-L{lib}", "-laxon_runtime", f"-Wl,-rpath,{lib}")
            self.assertEqual(subprocess.run([program], check=False).returncode, int(installed.MAJOR))

    def test_the_example_is_short(self):
        with open(os.path.join(installed.SOURCE, "examples", "c", "main.c"), encoding="utf-8") as file:
            code = [line for line in file if line.strip() and not re.match(r"\s*/\*.*\*/$", line)]
        self.assertLessEqual(len(code), 45)


if __name__ == "__main__":
    installed.main()
