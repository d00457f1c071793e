# bash completion for quern: 'quern completion bash' prints it
_quern()
{
    local word=${COMP_WORDS[COMP_CWORD]} words=
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        words='elementwise reduce scan eval raw tune build cache prewarm devices doctor completion help version --help --version'
    else
        case ${COMP_WORDS[1]} in
        elementwise) words='--preamble= --loop-prep= --after-loop= --option= --options= --size= --name= --reduce-dims= --block-size= --tune --show-ptx --device= --seed= --show-source --explain --time --quiet --help' ;;
        reduce) words='--axis= --keepdims --reduce-type= --ordered --preamble= --name= --option= --options= --size= --tune --show-ptx --device= --seed= --show-source --explain --time --quiet --help' ;;
        scan) words='--axis= --exclusive --scan-type= --preamble= --name= --option= --options= --size= --show-ptx --device= --seed= --show-source --explain --time --quiet --help' ;;
        eval) words='--dtype= --option= --options= --name= --tune --show-ptx --device= --seed= --show-source --explain --time --quiet --help' ;;
        raw) words='--kernel= --grid= --block= --shared= --cooperative --cluster= --any-strides --translate-cucomplex --option= --options= --device= --seed= --show-source --explain --time --quiet --help' ;;
        tune) words='elementwise reduce eval --help' ;;
        build) words='--arch= --output= --jobs= --level= --without-source --help' ;;
        cache) words='path stats list show verify prune export import record push pull keys clear --help' ;;
        prewarm) words='--device= --jobs= --help' ;;
        devices) words='--help' ;;
        doctor) words='--help' ;;
        completion) words='bash zsh fish --help' ;;
        help) words='elementwise reduce scan eval raw tune build cache prewarm devices doctor completion help version --help' ;;
        version) words='--help' ;;
        esac
        if [ "$COMP_CWORD" -gt 2 ]; then
            case ${COMP_WORDS[1]}.${COMP_WORDS[2]} in
            tune.elementwise) words='--preamble= --loop-prep= --after-loop= --option= --options= --size= --name= --reduce-dims= --block-size= --tune --show-ptx --device= --seed= --show-source --explain --time --quiet --help' ;;
            tune.reduce) words='--axis= --keepdims --reduce-type= --ordered --preamble= --name= --option= --options= --size= --tune --show-ptx --device= --seed= --show-source --explain --time --quiet --help' ;;
            tune.eval) words='--dtype= --option= --options= --name= --tune --show-ptx --device= --seed= --show-source --explain --time --quiet --help' ;;
            cache.path) words='--help' ;;
            cache.stats) words='--json --help' ;;
            cache.list) words='--json --help' ;;
            cache.show) words='--json --help' ;;
            cache.verify) words='--recompile= --help' ;;
            cache.prune) words='--to= --unused= --help' ;;
            cache.export) words='--output= --key= --level= --without-source --help' ;;
            cache.import) words='--help' ;;
            cache.record) words='--output= --help' ;;
            cache.push) words='--key= --help' ;;
            cache.pull) words='--device= --help' ;;
            cache.keys) words='--name= --help' ;;
            cache.clear) words='--help' ;;
            esac
        fi
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    if [ "$COMP_CWORD" -gt 1 ] && [ "${word#-}" = "$word" ]; then
        local files
        mapfile -t files < <(compgen -f -- "${word#=}")
        COMPREPLY+=("${files[@]}")
    fi
    case ${COMPREPLY[0]-} in
    *=) compopt -o nospace ;;
    esac
}
complete -o filenames -F _quern quern
